#!/usr/bin/env python3
"""Bytes of a program by component, from its linker map.

  size_by_component.py PROGRAM.map SYMBOLS

Counts what is loaded (code, constants, data; not debug information), by the object file that it
came from. Code that was made when the program was linked (-flto) comes from no file of ours: it is
counted by the namespaces of its functions and tables, which SYMBOLS (of nm -CS) names. A function that was
inlined counts where it is. Padding between sections is counted with the section before it.
"""

import re
import sys
from collections import defaultdict

COMPONENTS = [
    "vm/interpreter", "vm/runtime", "vm/format", "vm/isa", "vm/embedded", "vm/api",
    "hal", "tensor", "base",
]
LINKED = "ember"
LOADED = (".text", ".rodata", ".data", ".init_array", ".eh_frame", ".gcc_except_table",
          ".ARM.ex", ".bss", ".tdata", ".tbss", ".data.rel.ro")


# Maps patterns of symbols in the link's output to components; the first pattern that matches is
# used.
NAMESPACES = [
    (r"ember::vm::.*(Kernel|RowOf|Micro|Taps|ReduceRows|MapRows)\b.*", "kernels of tier 0"),
    (r"ember::vm::.*(Interpreter|Strip|Runner|Analy[sz]|Contraction|Grouper|Tile|HostKernels|Access).*", "tier 0"),
    (r"ember::vm::.*", "vm, but for tier 0"),
    (r"ember::(tensor|hal)::.*", None),
    (r"ember::.*", "base"),
    (r"flatbuffers::.*", "flatbuffers"),
    (r"std::.*", "templates of the standard library"),
]


def component_of_symbol(name):
    name = name.replace("(anonymous namespace)::", "")
    name = re.sub(r"^((void|bool|auto|unsigned|int|long|char) )+", "", name)
    for pattern, component in NAMESPACES:
        match = re.match(pattern, name)
        if match:
            return component or match.group(1)
    return "ember, other"


def symbol_sizes(lines):
    """Yields (size, component) of the symbols that the link made, those at one address once."""
    seen = set()
    for line in lines:
        match = re.match(r"^([0-9a-f]+) ([0-9a-f]+) ([a-zA-Z]) (.*)$", line)
        # Symbols with small letters are local, as all symbols of Ember's linked code are.
        # Symbols with capital letters come from libraries, which are counted by file.
        if not match or match.group(3) not in "tdr" or match.group(1) in seen:
            continue
        seen.add(match.group(1))
        yield int(match.group(2), 16), component_of_symbol(match.group(4))


def component_of(path):
    for name in COMPONENTS:
        if "/" + name + "/" in path or path.startswith(name + "/"):
            return name
    if "libstdc++" in path or "libsupc++" in path:
        return "libstdc++"
    if "libgcc" in path or "crt" in path:
        return "libgcc, startup"
    if ".ltrans" in path:
        return LINKED
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
        # If a section's name is long, its address and size are on the next line.
        match = re.match(r"^ (\.\S+)$", line)
        name = match.group(1) if match else None


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sizes = defaultdict(lambda: [0, 0])  # For each component: its bytes in the file, and its bytes
                                         # of zeroed memory (bss).
    with open(sys.argv[1], encoding="utf-8", errors="replace") as lines:
        for section, size, path in sections(lines):
            sizes[component_of(path)][section.startswith((".bss", ".tbss"))] += size
    # The bytes of Ember's own code that belong to no symbol are texts, switch tables and
    # padding. They are counted as a component of their own.
    linked = sizes.pop(LINKED, [0, 0])
    with open(sys.argv[2], encoding="utf-8", errors="replace") as lines:
        for size, component in symbol_sizes(lines):
            sizes[component][0] += size
            linked[0] -= size
    sizes["texts, tables without a name"] = linked
    print("| component | bytes in file | zeroed memory |\n| --- | ---: | ---: |")
    for name, (stored, zeroed) in sorted(sizes.items(), key=lambda item: -item[1][0]):
        print(f"| {name} | {stored} | {zeroed} |")
    print(f"| total | {sum(s for s, _ in sizes.values())} | {sum(z for _, z in sizes.values())} |")


if __name__ == "__main__":
    main()
