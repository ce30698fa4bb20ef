#!/usr/bin/env python3
"""Prints figures of CUDA kernels. It needs no GPU, only the CUDA toolkit's ptxas.

    bazel build //jit/ptx:compile_dispatches
    tools/cuda_kernels.py [DISPATCHES.txt...] [--arch=sm_80,sm_90a] [--allow-tf32] [--constants=w]
                          [-o md|json] [--keep=DIR]

Compiles each dispatch (default: tests/cuda/kernels.txt) under the default schedule of
each architecture and assembles it. A line for each kernel:
  registers  registers of a thread; spills: bytes of loads and stores to local memory
  shared     bytes of shared memory of a block
  occupancy  share of a multiprocessor's warps that can be resident, from the figures above;
             by: the resource that limits it
  mma, wgmma, dp4a, fma, ldmatrix, loads, stores, async, barriers
             instructions in the code of the kernel, each counted once however often it runs
  The following are for 1000 multiply-adds of the loop that multiplies most. Code in an inner loop counts
  once for each iteration, if the loop's bounds are numbers:
  thread instructions, bytes that are read from shared memory (by loads, ldmatrix and wgmma),
             bytes that are loaded or copied from the device's memory (through its caches)
Exits 1 if a kernel is declined, does not assemble, or spills, or if ptxas says that products
of warpgroups wait for each other ("serialized"); 2 without ptxas.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

# Limits of one multiprocessor, by architecture, from the table of compute capabilities in
# NVIDIA's "CUDA C++ Programming Guide".
PROCESSORS = {
    "sm_75": {"warps": 32, "blocks": 16, "registers": 65536, "shared": 65536, "reserved": 0, "most": 65536, "count": 40},
    "sm_80": {"warps": 64, "blocks": 32, "registers": 65536, "shared": 167936, "reserved": 1024, "most": 166912, "count": 108},
    "sm_86": {"warps": 48, "blocks": 16, "registers": 65536, "shared": 102400, "reserved": 1024, "most": 101376, "count": 84},
    "sm_89": {"warps": 48, "blocks": 24, "registers": 65536, "shared": 102400, "reserved": 1024, "most": 101376, "count": 128},
    "sm_90a": {"warps": 64, "blocks": 32, "registers": 65536, "shared": 233472, "reserved": 1024, "most": 232448, "count": 132},
}
REGISTERS_OF_WARP = 256  # The hardware allocates registers to a warp in multiples of this number.


def run(command):
    return subprocess.run(command, capture_output=True, text=True, check=False)


def occupancy(processor, threads, registers, shared):
    """Returns the share of a multiprocessor's warps that can be resident, and the resource that limits it."""
    warps = -(-threads // 32)
    of_warp = -(-registers * 32 // REGISTERS_OF_WARP) * REGISTERS_OF_WARP
    blocks = {
        "warps": processor["warps"] // warps,
        "blocks": processor["blocks"],
        "registers": processor["registers"] // (of_warp * warps),
        "shared": processor["shared"] // (shared + processor["reserved"]) if shared + processor["reserved"] else 99,
    }
    by = min(blocks, key=blocks.get)
    return blocks[by] * warps / processor["warps"], by


def bodies(ptx):
    """Returns the text of each entry, by name."""
    return {found[1]: found[0] for found in re.finditer(r"\.entry (\w+)\(.*?^}", ptx, re.S | re.M)}


WARP = 32
TYPE_BYTES = {"f16": 2, "bf16": 2, "tf32": 4, "s8": 1, "u8": 1, "e4m3": 1, "e5m2": 1}


def access_bytes(space, lines):
    """Bytes that a thread loads from the address space, each instruction counted once."""
    total = 0
    for line in lines:
        found = re.search(rf"\bld\.{space}\S*?(?:\.v(\d))?\.[a-z]+(\d+)\s", line)
        if found:
            total += int(found[1] or 1) * int(found[2]) // 8
    return total


def matrix_work(line):
    """Returns the multiply-adds of a warp by the instruction, and the bytes of shared memory that they read."""
    found = re.search(r"\bmma\.sync\S*\.m(\d+)n(\d+)k(\d+)\.", line)
    if found:
        return int(found[1]) * int(found[2]) * int(found[3]), 0
    found = re.search(r"wgmma\.mma_async\S*\.m64n(\d+)k(\d+)\.\w+\.(\w+)\.(\w+)\s+\{[^}]*\},\s*(\{?)", line)
    if not found:
        return 0, 0
    columns, depth = int(found[1]), int(found[2])
    of_group = columns * depth * TYPE_BYTES[found[4]]
    # `found[5]` is the brace that begins a list of registers with the left factor of wgmma. Without
    # it the left factor is in shared memory, so its bytes are counted, too.
    if not found[5]:
        of_group += 64 * depth * TYPE_BYTES[found[3]]
    return 16 * columns * depth, of_group // 4


def blocks_of(lines):
    """Splits lines at labels and branches. A block comes with True if it begins copies of boxes, which one thread runs."""
    blocks = [[]]
    for line in lines:
        if re.match(r"\$\w+:", line):
            blocks.append([])
        blocks[-1].append(line)
        if re.search(r"^\s*(?:@!?%\w+\s+)?bra\b", line):
            blocks.append([])
    return [(block, any("cp.async.bulk.tensor" in line for line in block)) for block in blocks]


def work(lines):
    """Returns a warp's multiply-adds, instructions of its threads, and bytes of shared and of device memory that it reads."""
    macs = shared = 0
    for line in lines:
        more, read = matrix_work(line)
        macs += more
        shared += read
        found = re.search(r"\bldmatrix\S*\.x(\d)", line)
        shared += 128 * int(found[1]) if found else 0
        # A multiply-add with a literal constant is a step of a polynomial's evaluation (such as
        # exp), so it is not counted as a multiply-add of the model.
        if re.search(r"\bfma\.rn\.(?:f32|f64)", line) and not re.search(r"\b0[fd][0-9A-F]{8}", line):
            macs += WARP
        if re.search(r"\bdp4a\.", line):
            macs += 4 * WARP
    copied = sum(int(size) for size in re.findall(r"\bcp\.async\.c\S+ \[[^]]*\], \[[^]]*\], (\d+)", "\n".join(lines)))
    instructions = sum(1 if copies_boxes else WARP for block, copies_boxes in blocks_of(lines)
                       for line in block if line.rstrip().endswith(";"))
    return (macs, instructions, shared + WARP * access_bytes("shared", lines),
            WARP * (copied + access_bytes("global", lines)))


def loops_of(lines):
    """Maps each loop's line with its label to the line with the last branch back to it."""
    labels = {found[1]: number for number, line in enumerate(lines) if (found := re.match(r"(\$\w+):", line))}
    loops = {}
    for number, line in enumerate(lines):
        found = re.search(r"\bbra(?:\.uni)?\s+(\$\w+);", line)
        if found and labels.get(found[1], number) < number:
            loops[labels[found[1]]] = number
    return loops


def turns_of(lines, begin, end):
    """Number of iterations of a loop whose counter has numbers as its start, step and bound; 1 for other loops."""
    guard = re.search(r"@(%p\d+)\s+bra", lines[end])
    compare = guard and [found for line in lines[begin:end] if (found := re.search(
        rf"setp\.(?:ne|lt)\.[sub](?:32|64)\s+{guard[1]}, (%r[d]?\d+), (-?\d+);", line))]
    if not compare:
        return 1
    counter, bound = compare[-1][1], int(compare[-1][2])
    steps = [int(found[1]) for line in lines[begin:end]
             if (found := re.search(rf"add\.s(?:32|64)\s+{counter}, {counter}, (-?\d+);", line))]
    starts = [int(found[1]) for line in lines[:begin]
              if (found := re.search(rf"mov\.[ub](?:32|64)\s+{counter}, (-?\d+);", line))]
    if len(steps) != 1 or not starts or steps[0] == 0:
        return 1
    return max(1, -(-(bound - starts[-1]) // steps[0]))


def repeated(lines):
    """Returns the lines of a loop. Lines of inner loops are repeated for each iteration."""
    lines = list(lines)
    loops = sorted(loops_of(lines).items(), key=lambda loop: loop[1] - loop[0])
    counts = [1] * len(lines)
    for begin, end in loops:
        if begin == 0:
            # The loop that begins at line 0 is the one whose iteration is counted, so its number
            # of iterations is not multiplied in.
            continue
        turns = turns_of(lines, begin, end)
        for number in range(begin, end + 1):
            counts[number] *= turns
    # A label is kept only once although the code after it is repeated, because it
    # only marks where that code begins.
    return [line for line, count in zip(lines, counts)
            for _ in range(1 if line.startswith("$") else count)]


def hottest_loop(body):
    """Returns the lines of the loop that multiplies most (the smallest of equal ones), from its label to the last branch
    back to it. Lines of inner loops are repeated for each iteration."""
    lines = body.splitlines()
    loops = [(repeated(lines[begin:end + 1]), end - begin) for begin, end in loops_of(lines).items()]
    return max(loops, key=lambda loop: (work(loop[0])[0], -loop[1]), default=([], 0))[0]


def count_instructions(body):
    count = lambda pattern: len(re.findall(pattern, body))
    counted = {
        "mma": count(r"\bmma\.sync"),
        "wgmma": count(r"\bwgmma\.mma_async"),
        "dp4a": count(r"\bdp4a\."),
        "fma": count(r"\bfma\.rn\.f\d+"),
        "ldmatrix": count(r"\bldmatrix"),
        "loads": count(r"\bld\.(?:global|shared)"),
        "stores": count(r"\bst\.(?:global|shared)"),
        "async": count(r"\bcp\.async\.c[ag]"),
        "barriers": count(r"\bbar\.sync"),
    }
    macs, instructions, shared, device = work(hottest_loop(body))
    for name, amount in (("instructions", instructions), ("shared bytes", shared), ("device bytes", device)):
        counted[name] = round(1000 * amount / macs, 1) if macs else ""
    return counted


def compile_for(options, arch, folder):
    processor = PROCESSORS[arch]
    target = (f"{arch}+subgroup32+shared{processor['most']}+invocations1024+processors{processor['count']}"
              f"{'+tensor_maps' if arch == 'sm_90a' else ''}{'+tf32' if options.allow_tf32 else ''}")
    done = run([os.path.join(options.bin, "jit/ptx/compile_dispatches"), f"--target={target}",
                f"--constants={options.constants}", "-o", folder, *options.files])
    rows, wrong = [], done.returncode != 0
    if done.stderr:
        print(done.stderr.strip(), file=sys.stderr)
    phases = [row for row in map(json.loads, done.stdout.splitlines()) if "entry" in row]
    for name in dict.fromkeys(phase["dispatch"] for phase in phases):
        path = os.path.join(folder, name + ".ptx")
        said = run([options.ptxas, "-v", f"-arch={arch}", path, "-o", "/dev/null"])
        if said.returncode != 0:
            print(f"{arch} {name}: {said.stderr.strip().splitlines()[0]}", file=sys.stderr)
            wrong = True
            continue
        for waits in re.findall(r".*are serialized.*", said.stderr):
            print(f"{arch} {name}: {waits.strip()}", file=sys.stderr)
            wrong = True
        used = {found[1]: (int(found[2]) + int(found[3]), int(found[4])) for found in re.finditer(
            r"Compiling entry function '(\w+)'.*?(\d+) bytes spill stores, (\d+) bytes spill loads.*?"
            r"Used (\d+) registers", said.stderr, re.S)}
        with open(path, encoding="utf-8") as file:
            texts = bodies(file.read())
        for phase in phases:
            if phase["dispatch"] != name:
                continue
            spills, registers = used[phase["entry"]]
            share, by = occupancy(processor, phase["threads"], registers, phase["shared"])
            wrong |= spills > 0
            rows.append({"kernel": f"{name}.{phase['entry']}", "arch": arch, "blocks": phase["blocks"],
                         "threads": phase["threads"], "registers": registers, "spills": spills,
                         "shared": phase["shared"], "occupancy": f"{share:.0%}", "by": by,
                         **count_instructions(texts[phase["entry"]])})
    return rows, wrong


def print_table(rows):
    columns = list(dict.fromkeys(key for row in rows for key in row))
    print("| " + " | ".join(columns) + " |")
    print("|" + " --- |" * len(columns))
    for row in rows:
        print("| " + " | ".join(str(row.get(column, "")) for column in columns) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", default=["tests/cuda/kernels.txt"], metavar="DISPATCHES.txt")
    parser.add_argument("--arch", default="sm_80,sm_90a", help="targets among " + ", ".join(PROCESSORS))
    parser.add_argument("--allow-tf32", action="store_true", help="multiplies f32 by f32 on tensor cores; see vm-run")
    parser.add_argument("--constants", default="weight", metavar="NAME,...",
                        help="names inputs that never change, which kernels may pack once (default: %(default)s)")
    parser.add_argument("--bin", default="bazel-bin")
    parser.add_argument("--ptxas", default="/usr/local/cuda/bin/ptxas")
    parser.add_argument("--keep", metavar="DIR", help="leaves PTX, nests and schedules in this folder")
    parser.add_argument("-o", choices=["md", "json"], default="md", dest="form")
    options = parser.parse_args()
    if not os.access(options.ptxas, os.X_OK):
        print(f"cuda_kernels: expected the CUDA toolkit's ptxas at {options.ptxas} (--ptxas=PATH)", file=sys.stderr)
        sys.exit(2)
    unknown = [arch for arch in options.arch.split(",") if arch not in PROCESSORS]
    if unknown:
        print(f"cuda_kernels: --arch: expected of {', '.join(PROCESSORS)}, found {unknown[0]}", file=sys.stderr)
        sys.exit(2)
    rows, wrong = [], False
    for arch in options.arch.split(","):
        with tempfile.TemporaryDirectory() as temporary:
            folder = os.path.join(options.keep, arch) if options.keep else temporary
            os.makedirs(folder, exist_ok=True)
            more, is_wrong = compile_for(options, arch, folder)
            rows += more
            wrong |= is_wrong
    if options.form == "json":
        print(json.dumps(rows, indent=1))
    else:
        print_table(rows)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
