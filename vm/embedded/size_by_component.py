#!/usr/bin/env python3
"""Bytes of a program by component, from its linker map.

  size_by_component.py PROGRAM.map

Counts what is loaded (code, constants, data; not debug information), by the object file that it
came from. Code that was made when the program was linked (-flto) is all of ember's: where a component
ends nobody knows then. Padding between sections is counted with the section before it.
"""

import re
import sys
from collections import defaultdict

COMPONENTS = [
    "vm/interpreter", "vm/runtime", "vm/format", "vm/isa", "vm/embedded", "vm/api",
    "hal", "tensor", "base",
]
LOADED = (".text", ".rodata", ".data", ".init_array", ".eh_frame", ".gcc_except_table",
          ".ARM.ex", ".bss", ".tdata", ".tbss", ".data.rel.ro")


def component_of(path):
    for name in COMPONENTS:
        if "/" + name + "/" in path or path.startswith(name + "/"):
            return name
    if "libstdc++" in path or "libsupc++" in path:
        return "libstdc++"
    if "libgcc" in path or "crt" in path:
        return "libgcc, startup"
    if ".ltrans" in path:
        return "ember"
    return "other"


def sections(lines):
    """Yields (section, size, object) for each input section that is kept."""
    started = False
    name = None
    for line in lines:
        if line.startswith("Linker script and memory map"):
            started = True
        if not started:
            continue
        match = re.match(r"^ (\.[\w.$\-*<>:~]+)?\s+0x([0-9a-f]+)\s+0x([0-9a-f]+)\s+(\S.*)$", line)
        if match:
            section = match.group(1) or name
            name = None
            address, size = int(match.group(2), 16), int(match.group(3), 16)
            if section and address and size and section.startswith(LOADED):
                yield section, size, match.group(4)
            continue
        match = re.match(r"^ (\.\S+)$", line)  # a long name: the rest is on the next line
        name = match.group(1) if match else None


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sizes = defaultdict(lambda: [0, 0])  # file, bss
    with open(sys.argv[1], encoding="utf-8", errors="replace") as lines:
        for section, size, path in sections(lines):
            sizes[component_of(path)][section.startswith((".bss", ".tbss"))] += size
    print("| component | bytes in file | zeroed memory |\n| --- | ---: | ---: |")
    for name, (stored, zeroed) in sorted(sizes.items(), key=lambda item: -item[1][0]):
        print(f"| {name} | {stored} | {zeroed} |")
    print(f"| total | {sum(s for s, _ in sizes.values())} | {sum(z for _, z in sizes.values())} |")


if __name__ == "__main__":
    main()
