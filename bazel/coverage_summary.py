"""Prints line coverage by folder from an LCOV file."""

import collections
import sys

found = collections.Counter()
hit = collections.Counter()
folder = ""
for line in open(sys.argv[1], encoding="utf-8"):
    key, _, value = line.rstrip("\n").partition(":")
    if key == "SF":
        folder = value.rpartition("/")[0]
    elif key == "LF":
        found[folder] += int(value)
    elif key == "LH":
        hit[folder] += int(value)
for folder in sorted(found):
    print("%5.1f %%  %6d lines  %s" % (100 * hit[folder] / max(found[folder], 1), found[folder], folder))
total = sum(found.values())
print("%5.1f %%  %6d lines  total" % (100 * sum(hit.values()) / max(total, 1), total))
