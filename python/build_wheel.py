"""Builds the wheel: the Python files, the module that cffi makes, and Ember's libraries.

    bazel build //vm/api:libember.so //tools/compiler_api:libember_compiler.so //jit:libember_jit.so
    python3 python/build_wheel.py --out=DIST --libraries bazel-bin/vm/api/libember.so \\
        bazel-bin/tools/compiler_api/libember_compiler.so bazel-bin/jit/libember_jit.so

--libraries: libember.so is required. libember_compiler.so (without it ember.compile is missing), libember_strings.so,
libember_jit.so, libember_llvm.so and the program ember-compile-worker are optional. --needed: shared libraries that
those need and that a machine may lack (libprotobuf.so.32); they are loaded before the compiler, libre2 before the
runtime. --notices: a text with the licences of all of them.

The wheel is for CPython 3.11 and later (cp311-abi3). Its platform tag names the oldest glibc with which its files can
be loaded, by the versions of symbols that `objdump` prints. The same inputs give the same bytes. --stage writes the
files of the package to the folder --out instead of a wheel: the tests and the package python3-ember use it. Without
libraries the package uses the system's. Needs python3-cffi, python3-dev, a C compiler and binutils; no network.

For another machine: --machine=aarch64 --cc=aarch64-linux-gnu-gcc --objdump=aarch64-linux-gnu-objdump. Python.h's
configuration for this machine serves for every other one with the same sizes of C's types.
"""

import argparse
import base64
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from build_native import build

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
PYTHON_TAG = "cp311-abi3"
# The modification time of all files in the wheel, so that it is reproducible: the earliest time
# that the ZIP format can express.
TIME = (1980, 1, 1, 0, 0, 0)
KNOWN = {
    "libember.so",
    "libember_compiler.so",
    "libember_strings.so",
    "libember_jit.so",
    "libember_llvm.so",
    "ember-compile-worker",
}
METADATA = """\
Metadata-Version: 2.1
Name: ember
Version: {version}
Summary: Compiles and runs trained models
License: Apache-2.0
Requires-Python: >=3.11
Requires-Dist: numpy >=1.24
Requires-Dist: cffi >=1.15
Provides-Extra: onnx
Requires-Dist: onnx >=1.12; extra == 'onnx'
Provides-Extra: bfloat16
Requires-Dist: ml_dtypes >=0.2; extra == 'bfloat16'
Provides-Extra: torch
Requires-Dist: torch >=1.13; extra == 'torch'
Description-Content-Type: text/markdown

{description}"""
# torch.compile(backend="ember") finds the function by this entry, without an import of ember.
ENTRY_POINTS = "[torch_dynamo_backends]\nember = ember.pytorch:backend\n"


def version_of(root):
    """Returns Ember's version."""
    return (root / "packaging/VERSION").read_text(encoding="utf-8").strip()


def stage(folder, libraries, needed, cc=None, include=None):
    """Writes the files of the package to a folder."""
    unknown = [p.name for p in libraries if p.name not in KNOWN]
    if unknown:
        raise SystemExit(f"build_wheel.py: --libraries: expected {', '.join(sorted(KNOWN))}, found {unknown[0]}")
    if libraries and "libember.so" not in {p.name for p in libraries}:
        raise SystemExit("build_wheel.py: --libraries: expected libember.so, found none; build //vm/api:libember.so")
    package = folder / "ember"
    package.mkdir(parents=True, exist_ok=True)
    for path in sorted((HERE / "ember").rglob("*")):
        if path.suffix in (".py", ".pyi") or path.name == "py.typed":
            target = package / path.relative_to(HERE / "ember")
            target.parent.mkdir(exist_ok=True)
            shutil.copyfile(path, target)
            target.chmod(0o644)
    build(ROOT, package, cc, include)
    for name, text in metadata().items():
        target = folder / name
        target.parent.mkdir(exist_ok=True)
        target.write_text(text, encoding="utf-8")
    for where, paths in (("lib", libraries), ("lib/needed", needed)):
        for path in paths:
            target = package / where / path.name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
            target.chmod(0o755)


def metadata():
    """Returns the files that describe the package to Python: the texts by name."""
    info = f"ember-{version_of(ROOT)}.dist-info"
    description = (HERE / "README.md").read_text(encoding="utf-8")
    return {
        f"{info}/METADATA": METADATA.format(version=version_of(ROOT), description=description),
        f"{info}/entry_points.txt": ENTRY_POINTS,
    }


# For each version 3.4.N of libstdc++'s symbols: the glibc of the oldest distributions that have
# this libstdc++.
GLIBC_FOR_LIBSTDCXX = {29: (2, 34), 30: (2, 35), 31: (2, 38), 32: (2, 38), 33: (2, 40), 34: (2, 41)}


def glibc_of(folder, objdump="objdump"):
    """Returns the oldest version of glibc, such as (2, 36), with which the ELF files in the folder can be loaded.

    A tag of manylinux names a glibc, but says nothing of libstdc++. So the symbols of libstdc++ count, too.
    """
    newest = (2, 17)
    for path in sorted(folder.rglob("*")):
        if not path.is_file() or path.read_bytes()[:4] != b"\x7fELF":
            continue
        text = subprocess.run([objdump, "-T", str(path)], capture_output=True, text=True, check=True).stdout
        for major, minor in re.findall(r"\bGLIBC_(\d+)\.(\d+)", text):
            newest = max(newest, (int(major), int(minor)))
        for patch in re.findall(r"\bGLIBCXX_3\.4\.(\d+)", text):
            newest = max(newest, GLIBC_FOR_LIBSTDCXX.get(int(patch), (2, 17)))
    return newest


def write_wheel(folder, out, machine, notices=None, objdump="objdump"):
    """Writes the wheel of a staged package and returns its path. notices: the text of the file NOTICE."""
    version = version_of(ROOT)
    tag = f"{PYTHON_TAG}-manylinux_{'_'.join(map(str, glibc_of(folder, objdump)))}_{machine}"
    info = f"ember-{version}.dist-info"
    files = {str(p.relative_to(folder)): p for p in sorted(folder.rglob("*")) if p.is_file()}
    texts = metadata() | {
        f"{info}/WHEEL": f"Wheel-Version: 1.0\nGenerator: ember\nRoot-Is-Purelib: false\nTag: {tag}\n",
        f"{info}/LICENSE": (ROOT / "LICENSE").read_text(encoding="utf-8"),
        f"{info}/NOTICE": notices or (ROOT / "NOTICE").read_text(encoding="utf-8"),
    }
    contents = {n: (path.read_bytes(), os.access(path, os.X_OK)) for n, path in files.items() if n not in texts}
    contents.update({name: (text.encode("utf-8"), False) for name, text in texts.items()})
    record = []
    out.mkdir(parents=True, exist_ok=True)
    wheel = out / f"ember-{version}-{tag}.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, (data, is_executable) in contents.items():
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record.append(f"{name},sha256={digest},{len(data)}")
            _add(archive, name, data, is_executable)
        record.append(f"{info}/RECORD,,")
        _add(archive, f"{info}/RECORD", ("\n".join(record) + "\n").encode(), False)
    return wheel


def _add(archive, name, data, is_executable):
    entry = zipfile.ZipInfo(name, TIME)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = (0o100755 if is_executable else 0o100644) << 16
    archive.writestr(entry, data)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", required=True, type=Path, help="Writes the wheel to this folder.")
    parser.add_argument("--libraries", nargs="*", default=[], type=Path, help="Puts these files of Ember into it.")
    parser.add_argument("--needed", nargs="*", default=[], type=Path, help="Puts these libraries of others into it.")
    parser.add_argument("--notices", type=Path, help="Uses this text as the wheel's NOTICE.")
    parser.add_argument("--machine", default=os.uname().machine, help="Names the machine in the tag: aarch64.")
    parser.add_argument("--cc", help="Compiles with this program, for example a cross compiler.")
    parser.add_argument("--objdump", default="objdump", help="Reads symbols with this program.")
    parser.add_argument("--include", help="Finds Python.h in this folder; the default is that of this Python.")
    parser.add_argument("--stage", action="store_true", help="Writes the package's files to the folder, and no wheel.")
    arguments = parser.parse_args()
    if arguments.stage:
        stage(arguments.out, arguments.libraries, arguments.needed, arguments.cc, arguments.include)
        return 0
    if not arguments.libraries:
        parser.error("--libraries: expected libember.so, found none; only --stage makes a package without libraries")
    notices = arguments.notices.read_text(encoding="utf-8") if arguments.notices else None
    with tempfile.TemporaryDirectory() as folder:
        stage(Path(folder), arguments.libraries, arguments.needed, arguments.cc, arguments.include)
        wheel = write_wheel(Path(folder), arguments.out, arguments.machine, notices, arguments.objdump)
    print(f"{wheel}: {wheel.stat().st_size / 1e6:.1f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
