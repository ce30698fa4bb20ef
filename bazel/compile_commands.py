"""Writes compile_commands.json from `bazel aquery`: compile_commands.py [BAZEL FLAGS] [TARGETS]."""

import json
import os
import subprocess
import sys


def bazel(*args):
    return subprocess.run(["bazel", *args], check=True, stdout=subprocess.PIPE).stdout.decode()


# Flags of gcc that clang's tools do not know, and -Werror: clang-tidy decides itself which warnings
# are errors.
DROP = {"-fno-canonical-system-headers", "-Wno-free-nonheap-object", "-Wunused-but-set-parameter", "-Werror"}


def main():
    flags = [a for a in sys.argv[1:] if a.startswith("-")]
    targets = [a for a in sys.argv[1:] if not a.startswith("-")] or ["//..."]
    info = dict(line.split(": ", 1) for line in bazel("info").splitlines() if ": " in line)
    root, execroot, base = info["workspace"], info["execution_root"], info["output_base"]
    query = 'mnemonic("CppCompile", set(%s))' % " ".join(targets)
    graph = json.loads(bazel("aquery", "--ui_event_filters=-info", "--noshow_progress", "--keep_going",
                             *flags, "--output=jsonproto", query))
    entries, seen = [], set()
    for action in graph.get("actions", []):
        args = action["arguments"]
        if "-c" not in args:
            continue
        source = args[args.index("-c") + 1]
        path = os.path.join(root, source)
        # The first command of a file is kept. Later ones compile the same file for other platforms.
        if source in seen or not os.path.exists(path):
            continue
        seen.add(source)
        args[args.index("-c") + 1] = path
        # The folder external/ below the execution root holds only what the last build used, so its
        # real path is written. The repository's own sources keep their paths in the repository, so
        # that editors open the right file.
        args = [os.path.join(base, a) if a.startswith("external/") else a for a in args if a not in DROP]
        for i, arg in enumerate(args):
            if arg == "-iquote" and args[i + 1] == ".":
                args[i + 1] = root
        entries.append({"directory": execroot, "file": path, "arguments": args})
    with open(os.path.join(root, "compile_commands.json"), "w", encoding="utf-8") as f:
        json.dump(entries, f, indent=1)
    print("compile_commands.json: %d files" % len(entries))


main()
