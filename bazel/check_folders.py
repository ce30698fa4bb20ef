#!/usr/bin/env python3
"""Finds folders that depend on each other in a circle; file names come on stdin, NUL between.

    git ls-files -z '*.h' '*.cc' '*.c' | python3 bazel/check_folders.py     # prints them, exits 1

A folder depends on another one if a file of it includes a header there. A root and its subfolders are different
folders, so a root that both serves its subfolders and uses them is found too. For each circle it prints two folders
that depend on each other, or the shortest circle if there are none, with an example for each direction. Tests and
benchmarks do not count; test support (FOLDER/testing) does.
"""

import collections
import re
import sys

INCLUDE = re.compile(r'\s*#\s*include\s*"([^"]+)"')
TEST = re.compile(r"(^(tests|third_party|samples)/|(^|[_/])(test|bench)\.(cc|c)$)")


def arrows(paths):
    """Returns (folder, folder it depends on) -> (file, line, included file), the first such line."""
    found = {}
    folders = {p.rpartition("/")[0] for p in paths}
    for path in paths:
        if TEST.search(path):
            continue
        folder = path.rpartition("/")[0]
        with open(path, encoding="utf-8", errors="replace") as f:
            for number, line in enumerate(f, 1):
                match = INCLUDE.match(line)
                target = match.group(1).rpartition("/")[0] if match else ""
                if target in folders and target != folder:
                    found.setdefault((folder, target), (path, number, match.group(1)))
    return found


def reachable(graph, start):
    """Returns the shortest path from start to each folder that it depends on, itself included if in a circle."""
    paths = {}
    queue = collections.deque([(start, [start])])
    while queue:
        folder, path = queue.popleft()
        for target in sorted(graph[folder]):
            if target not in paths:
                paths[target] = path + [target]
                queue.append((target, paths[target]))
    return paths


def circles(graph):
    """Yields sets of folders that all depend on each other."""
    paths = {folder: reachable(graph, folder) for folder in list(graph)}
    done = set()
    for folder in sorted(paths):
        if folder in done or folder not in paths[folder]:
            continue
        group = {f for f in paths[folder] if f in paths and folder in paths[f]}
        done |= group
        pairs = [[a, b, a] for a in sorted(group) for b in sorted(graph[a]) if a < b and a in graph[b]]
        yield sorted(group), pairs or [min((paths[f][f] for f in group), key=len)]


def main():
    found = arrows([p for p in sys.stdin.read().split("\0") if p.endswith((".h", ".cc", ".c"))])
    graph = collections.defaultdict(set)
    for folder, target in found:
        graph[folder].add(target)
    bad = 0
    for group, examples in circles(graph):
        bad += 1
        print("circle of %d folders: %s" % (len(group), " ".join(group)))
        for example in examples:
            print("  " + " -> ".join(example))
            for arrow in zip(example, example[1:]):
                print('    %s:%d: #include "%s"' % found[arrow])
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
