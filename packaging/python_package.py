"""Makes the Python package: the files of python3-ember, and the wheel. package.py calls it.

Both contain the files of python/ember and the module _ember.abi3.so, which Debian's Python, cffi and C compiler make.
python3-ember uses the libraries of the other packages. The wheel has its own: those of LIBRARIES, and those of NEEDED,
which a machine may lack. LLVM is not in the wheel. Without libLLVM.so.19.1 (Debian: libllvm19) a model runs on the
interpreter. The wheel for aarch64 is made by a cross build and has the runtime alone, which runs modules.
"""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Debian's own Python, for which python3-cffi and python3-dev are packaged.
PYTHON = "/usr/bin/python3"
FOLDER = "lib/python3/dist-packages"
# Ember's libraries in the wheel, below Bazel's output folder.
LIBRARIES = [
    "vm/api/libember.so",
    "vm/api/libember_strings.so",
    "tools/compiler_api/libember_compiler.so",
    "jit/libember_jit.so",
    "jit/llvm/library/libember_llvm.so",
    "jit/worker/ember-compile-worker",
]
# The shared libraries of others in the wheel. The licences of their code are those of the headers' packages in
# notices.py, because each pair is made of one source package.
NEEDED = ["libprotobuf.so.32", "libre2.so.9", "libsnappy.so.1"]
# Packages whose code the extension module contains, for the notices: cffi puts code of its own into
# _ember.abi3.so.
CONTAINED = ["python3-cffi"]
DEPENDS = ["python3 (>= 3.11)", "python3-numpy", "python3-cffi-backend"]
# The maintainer scripts that Debian's helpers write for packages with Python files: they compile
# the files at installation, and remove the compiled files.
SCRIPTS = {
    "postinst": '#!/bin/sh\nset -e\nif [ "$1" = configure ]; then py3compile -p python3-ember; fi\n',
    "prerm": "#!/bin/sh\nset -e\npy3clean -p python3-ember\n",
}


def _run_build_wheel(*arguments):
    command = [PYTHON, "-B", str(ROOT / "python/build_wheel.py"), *map(str, arguments)]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        sys.exit("package.py: %s failed\n%s" % (" ".join(command), done.stdout))


def stage_package(root, strip):
    """Puts the files of python3-ember below root. strip(path) removes unneeded symbols of a file."""
    folder = root / FOLDER
    _run_build_wheel("--stage", "--out", folder)
    for path in folder.glob("ember/*.so"):
        strip(path)


def write_scripts(folder):
    """Writes the package's scripts to its folder DEBIAN."""
    for name, text in SCRIPTS.items():
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)


def make_wheel(built, triple, work, out, install, notices):
    """Makes the wheel of this machine in the folder `out` and returns its path.

    built: Bazel's output folder. install(source, target): copies a file and removes unneeded symbols. notices: the
    text with the licences.
    """
    libraries, needed = [], []
    for name in LIBRARIES:
        libraries.append(work / "wheel" / Path(name).name)
        install(built / name, libraries[-1])
    for name in NEEDED:
        path = Path("/usr/lib") / triple / name
        if not path.exists():
            sys.exit("package.py: %s is missing; ./dev setup installs it" % path)
        needed.append(path)
    return _write_wheel(triple.split("-")[0], work, out, notices, "--libraries", *libraries, "--needed", *needed)


def make_cross_wheel(library, triple, work, out, install, notices):
    """Makes the wheel of another machine, with the runtime `library` of a cross build, and returns its path."""
    copied = work / "wheel/libember.so"
    install(library, copied)
    machine = triple.split("-")[0]
    tools = ["--machine", machine, "--cc", triple + "-gcc", "--objdump", triple + "-objdump"]
    return _write_wheel(machine, work, out, notices, "--libraries", copied, *tools)


def _write_wheel(machine, work, out, notices, *arguments):
    text = work / "wheel/NOTICES"
    text.write_text(notices)
    for old in out.glob("ember-*_%s.whl" % machine):
        old.unlink()
    _run_build_wheel("--out", out, "--notices", text, *arguments)
    return next(out.glob("ember-*_%s.whl" % machine))
