"""Builds the module ember/_ember.abi3.so, which calls the C APIs, with cffi and the C compiler of this Python.

    python3 python/build_native.py --out=FOLDER

The module is for CPython 3.11 and all later versions (the stable ABI). It contains no library of Ember: it loads them
when the package is imported. Needs python3-cffi, python3-dev and a C compiler; no network.
"""

import argparse
import contextlib
import io
import os
import shlex
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

from declarations import declarations, wrappers

HERE = Path(__file__).resolve().parent
RUNTIME_HEADER = Path("vm/api/ember.h")
COMPILER_HEADER = Path("tools/compiler_api/ember_compiler.h")
TE_HEADER = Path("jit/te_api/ember_te.h")
MODULE = "_ember"
# The oldest version of Python that the module is for, as PY_VERSION_HEX has it.
LIMITED_API = 0x030B0000


def write_source(root, path):
    """Writes the C source of the module."""
    import cffi  # cffi is imported here, so that --help works on a machine without it.

    runtime = (root / RUNTIME_HEADER).read_text(encoding="utf-8")
    compiler = (root / COMPILER_HEADER).read_text(encoding="utf-8")
    runtime_declared, runtime_defined = wrappers(runtime, "EmberApi", "ember_table", "ember_")
    te = (root / TE_HEADER).read_text(encoding="utf-8")
    compiler_declared, compiler_defined = wrappers(compiler, "EmberCompilerApi", "compiler_table", "compiler_")
    te_declared, te_defined = wrappers(te, "EmberTeApi", "te_table", "te_")
    ffi = cffi.FFI()
    ffi.cdef(declarations(runtime))
    ffi.cdef(declarations(compiler))
    ffi.cdef(declarations(te))
    ffi.cdef((HERE / "native/ember_python.cdef").read_text(encoding="utf-8"))
    ffi.cdef(runtime_declared + compiler_declared + te_declared)
    ffi.set_source(
        f"ember.{MODULE}",
        '#include "ember.h"\n#include "ember_compiler.h"\n#include "ember_te.h"\n#include "ember_python.h"\n'
        + runtime_defined
        + compiler_defined
        + te_defined,
    )
    # Discards what cffi prints: the path of a temporary file, which the user does not need.
    with contextlib.redirect_stdout(io.StringIO()):
        ffi.emit_c_code(str(path))


def compiler_command(cc):
    """Returns the command that compiles and links a module of this Python."""
    command = shlex.split(cc or os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc")
    return command[:1] + ["-shared", "-fPIC", "-O2", "-pthread", "-Wall", "-Wno-unused-function", "-fvisibility=hidden"]


def add_configuration(command, folder):
    """Lets a cross compiler find pyconfig.h, which Debian has for this machine only.

    The header of another 64-bit machine differs in parts that the stable ABI does not use.
    """
    machine = subprocess.run([command[0], "-dumpmachine"], capture_output=True, text=True, check=True).stdout.strip()
    own = sysconfig.get_config_var("MULTIARCH") or ""
    version = f"python{sysconfig.get_python_version()}"
    found = Path(sysconfig.get_config_h_filename()).parents[1] / own / version / "pyconfig.h"
    if machine == own or not found.exists():
        return []
    target = folder / machine / version
    target.mkdir(parents=True)
    (target / "pyconfig.h").write_bytes(found.read_bytes())
    return [f"-I{folder}"]


def build(root, out, cc=None, include=None):
    """Builds the module into the folder `out` and returns its path."""
    out.mkdir(parents=True, exist_ok=True)
    path = out / f"{MODULE}.abi3.so"
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / f"{MODULE}.c"
        write_source(root, source)
        more = add_configuration(compiler_command(cc), Path(folder)) if cc else []
        command = compiler_command(cc) + [
            f"-DPy_LIMITED_API={LIMITED_API:#x}",
            # cffi's code uses memset, whose header Python.h includes only without Py_LIMITED_API.
            "-include",
            "string.h",
            f"-I{include or sysconfig.get_paths()['include']}",
            f"-I{(root / RUNTIME_HEADER).parent}",
            f"-I{(root / COMPILER_HEADER).parent}",
            f"-I{(root / TE_HEADER).parent}",
            f"-I{HERE / 'native'}",
            *more,
            str(source),
            "-o",
            str(path),
            "-ldl",
        ]
        subprocess.run(command, check=True)
    return path


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", required=True, type=Path, help="Writes the module to this folder.")
    parser.add_argument("--root", type=Path, default=HERE.parent, help="Reads the headers of this source tree.")
    parser.add_argument("--cc", help="Compiles with this program, for example a cross compiler.")
    parser.add_argument("--include", help="Finds Python.h in this folder; the default is that of this Python.")
    arguments = parser.parse_args()
    print(build(arguments.root, arguments.out, arguments.cc, arguments.include))
    return 0


if __name__ == "__main__":
    sys.exit(main())
