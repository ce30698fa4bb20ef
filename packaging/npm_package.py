"""Makes the npm package of the runtime for browsers; ./dev package --npm calls it.

  npm_package.py --wasm=EMBER_WASM --out=DIR      writes DIR/ember-runtime-VERSION.tgz and prints its path

The package has the JavaScript and the types of vm/web, ember.wasm, a README, and the licences: Ember's own (LICENSE) and
those of the libraries that are linked into ember.wasm (NOTICES). It has no dependencies and no scripts.
"""

import argparse
import gzip
import io
import json
import tarfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
JAVASCRIPT = ["ember.js", "ember.d.ts", "download.js", "remote.js", "tensor.js", "worker.js"]
# The Debian packages whose code the linker copies into ember.wasm.
LINKED = ["wasi-libc", "libc++-19-dev-wasm32", "libclang-rt-19-dev-wasm32", "libflatbuffers-dev"]

README = """\
# ember-runtime

Runs models that Ember has compiled (`vm-compile model.onnx`) in a page, a worker or Node 18 and later. It is one
WebAssembly module and a few files of JavaScript, without dependencies.

    import * as ember from 'ember-runtime';
    const session = await ember.load('model.vmfb', { worker: true });
    console.log(session.inputs, session.results);
    const results = await session.run({ image: new Float32Array(3 * 224 * 224) });
    session.dispose();

`ember.d.ts` documents all options. `vm-prejit model.vmfb --target=wasm32+simd128` adds kernels for WebAssembly to a
module, with which it runs several times as fast.
"""


def manifest(version):
    """Returns package.json."""
    return json.dumps({
        "name": "ember-runtime",
        "version": version,
        "description": "Runs compiled models (.vmfb) in browsers and Node: a small WebAssembly runtime",
        "license": "SEE LICENSE IN LICENSE",
        "type": "module",
        "main": "ember.js",
        "types": "ember.d.ts",
        "exports": {
            ".": {"types": "./ember.d.ts", "default": "./ember.js"},
            "./ember.wasm": "./ember.wasm",
        },
        "sideEffects": False,
        "engines": {"node": ">=18"},
    }, indent=2) + "\n"


def notices():
    """Returns the licences of the linked libraries."""
    parts = ["ember.wasm contains code of these libraries.\n"]
    for package in LINKED:
        text = Path("/usr/share/doc", package, "copyright").read_text(encoding="utf-8")
        parts.append("%s %s\n\n%s" % ("=" * 8, package, text))
    return "\n".join(parts)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--wasm", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    version = (ROOT / "packaging/VERSION").read_text().strip()
    files = {"package.json": manifest(version).encode(), "README.md": README.encode(),
             "LICENSE": (ROOT / "LICENSE").read_bytes(), "NOTICES": notices().encode(),
             "ember.wasm": options.wasm.read_bytes()}
    for name in JAVASCRIPT:
        files[name] = (ROOT / "vm/web" / name).read_bytes()
    options.out.mkdir(parents=True, exist_ok=True)
    target = options.out / ("ember-runtime-%s.tgz" % version)
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for name in sorted(files):
            entry = tarfile.TarInfo("package/" + name)
            entry.size = len(files[name])
            entry.mode = 0o644
            archive.addfile(entry, io.BytesIO(files[name]))
    # The time 0 makes equal contents equal files.
    target.write_bytes(gzip.compress(packed.getvalue(), 9, mtime=0))
    print(target)


if __name__ == "__main__":
    main()
