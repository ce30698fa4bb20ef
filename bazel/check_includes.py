"""Checks #include lines against the design's dependency arrows; file names come on stdin, NUL between.

Bazel's visibility checks the same arrows between targets. This also sees what
Bazel cannot: system libraries in /usr/include compile without being a dependency.
"""

import re
import sys

# For each folder, the folders whose headers it may include. The longest prefix of a file's path
# decides. Every folder may include its own headers.
ALLOWED = {
    "base": [],
    "tensor": ["base"],
    "hal": ["base"],
    "vm/format": ["base", "tensor", "vm"],
    "vm/interpreter": ["base", "tensor", "vm"],
    "vm/isa": ["base", "tensor", "vm"],
    "vm": ["base", "tensor", "hal"],
    "jit": ["base", "tensor", "hal", "vm"],
    "tune": ["base", "tensor", "hal", "vm", "jit"],
    "compiler": ["base", "tensor", "vm/format", "vm/interpreter", "vm/isa"],
    "frontends": ["base", "tensor", "compiler/graph", "third_party/caffe", "third_party/caffe2", "third_party/onnx", "third_party/tensorflow"],
}
FOLDERS = {a.split("/")[0] for a in ALLOWED} | {"tools", "samples", "tests", "third_party"}

# The folders of the runtime, which ships in an app: they use no libraries but flatbuffers' headers.
RUNTIME = ("base/", "tensor/", "hal/", "vm/")
NOT_IN_RUNTIME = re.compile(r"(absl|llvm|llvm-c|google|nlohmann|clang)/")

INCLUDE = re.compile(r'\s*#\s*include\s*["<]([^">]+)[">]')


def below(path, folder):
    return path == folder or path.startswith(folder + "/")


def problem(path, included):
    folder = max((a for a in ALLOWED if below(path, a)), key=len, default=None)
    if folder is None:
        return None
    test = path.endswith(("_test.cc", "_bench.cc", "_fuzz.cc"))
    if path.startswith(RUNTIME) and not test and NOT_IN_RUNTIME.match(included):
        return "the runtime uses no such library"
    if included.split("/")[0] not in FOLDERS or "/" not in included:
        return None
    if below(included, folder) or any(below(included, a) for a in ALLOWED[folder]):
        return None
    return "%s must not depend on %s" % (folder, included.rpartition("/")[0])


def main():
    bad = 0
    for path in filter(None, sys.stdin.read().split("\0")):
        with open(path, encoding="utf-8", errors="replace") as f:
            for number, line in enumerate(f, 1):
                match = INCLUDE.match(line)
                why = match and problem(path, match.group(1))
                if why:
                    print('%s:%d: #include "%s": %s' % (path, number, match.group(1), why))
                    bad += 1
    return 1 if bad else 0


sys.exit(main())
