#!/usr/bin/env python3
"""Runs models with kernels for three kinds of processor in one file on each of them. `./dev prejit-models` calls it.

usage: prejit_models.py [--models NAME,...] [--runs 1] [--folder DIR]

Each model is compiled and gets kernels for x86-64-v3, aarch64 and armv7+neon (vm-prejit). tests/native/run_native,
which has no compiler, then runs the one file: here, and under qemu-user as a Cortex-A72 and a Cortex-A15. Each run makes five
calls of the model or more, at tier 0 and with the kernels. The first calls of each kernel are compared with tier 0, as those of
the JIT are, and so are all results. Columns:

  module         bytes of the file without native sections
  + TARGET       bytes that the target's section adds, and how much of that is weights in the kernels' layouts
  kernels        dispatches that have a kernel
  PROCESSOR      calls that kernels ran there, and the largest difference of a result from tier 0's, relative to the largest element
  portable       true if the file without its sections gives bit for bit tier 0's results with them, here

Environment: EMBER_BIN, the folder of vm-compile and vm-prejit; EMBER_NATIVE, that of run_native, run_native_aarch64 and
run_native_armhf (bazel-bin/tests/native); EMBER_PEERS, models and inputs of ../shared/peers/gen_models.py
(~/.cache/ember/peer_models); EMBER_SHARED (../shared). Exit status 0: all ran, and were right.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile

import compare_ort

NATIVE = compare_ort.setting("EMBER_NATIVE", os.path.join(compare_ort.ROOT, "bazel-bin/tests/native"))
PEERS = compare_ort.setting("EMBER_PEERS", os.path.join(compare_ort.CACHE, "ember/peer_models"))
CORPUS = os.path.join(compare_ort.setting("EMBER_SHARED", os.path.join(compare_ort.ROOT, "../shared")), "corpus/models")

# Each row has a name, a model, flags of vm-compile, and a folder of inputs.
MODELS = (
    ("mobilenetv2", f"{PEERS}/mobilenetv2.onnx", (), f"{PEERS}/mobilenetv2.in"),
    ("resnet50", f"{PEERS}/resnet50.onnx", (), f"{PEERS}/resnet50.in"),
    ("bert_base", f"{PEERS}/bert_base.onnx", (), f"{PEERS}/bert_base.in"),
    # mobilenet_v2_quant is quantised to bytes; byte_lstm is, too, and has recurrent layers, which
    # become loops
    ("mobilenet_v2_quant", f"{CORPUS}/tflite/mobilenet_v2_quant_224/model.tflite", (), None),
    ("byte_lstm", f"{CORPUS}/onnx/nlp/byte_sb_bidi_lstm/model.onnx", ("--shape=input=1x32",), None),
)

# Each row has a target of vm-prejit, a processor of this kind, the command that runs
# run_native on it, and the command's environment.
PROCESSORS = (
    ("x86-64-v3", "this machine", (f"{NATIVE}/run_native",), {}),
    ("aarch64", "Cortex-A72", ("qemu-aarch64", "-L", "/usr/aarch64-linux-gnu", f"{NATIVE}/run_native_aarch64"),
     {"QEMU_CPU": "cortex-a72"}),
    ("armv7+neon", "Cortex-A15", ("qemu-arm", "-L", "/usr/arm-linux-gnueabihf", f"{NATIVE}/run_native_armhf"),
     {"QEMU_CPU": "cortex-a15"}),
)


def run_native(command, environment, module, flags):
    output = compare_ort.output_of([*command, module, *flags], env=dict(os.environ, **environment))
    found = re.search(r"(\d+) calls of kernels; largest difference (\S+); tier 0's results (\w+)", output)
    if not found:
        raise RuntimeError("run_native printed no result")
    return int(found.group(1)), found.group(2), found.group(3)


def measure(name, model, compile_flags, inputs, options, folder):
    plain, module = os.path.join(folder, name + ".vmfb"), os.path.join(folder, name + "_native.vmfb")
    compare_ort.output_of([os.path.join(compare_ort.BIN, "vm-compile"), model, "-o", plain, *compile_flags])
    made = compare_ort.output_of([os.path.join(compare_ort.BIN, "vm-prejit"), plain, "-o", module,
                                  "--target=" + ",".join(p[0] for p in PROCESSORS)])
    cells = [name, f"{os.path.getsize(plain):,}"]
    lines = re.findall(r"^\S+: (\d+) kernels of (\d+), (\d+) bytes, (\d+) of packed weights", made, re.M)
    for _, _, total, weights in lines:
        cells.append(f"{int(total):,} ({int(weights):,})")
    cells.append(", ".join(sorted({f"{kernels} of {all_of}" for kernels, all_of, _, _ in lines})))
    flags = [f"--runs={options.runs}"] + ([f"--inputs={inputs}"] if inputs else [])
    hashes = []
    for target, processor, command, environment in PROCESSORS:
        print(f"{name}: {processor}", file=sys.stderr)
        calls, difference, hash_of_tier0 = run_native(command, environment, module, flags + ["--expect-all"])
        if calls == 0:
            raise RuntimeError(f"{processor}: expected kernels of {target} to run, found none that did")
        cells.append(f"{calls} calls, {difference}")
        hashes.append(hash_of_tier0)
    calls, _, portable = run_native(PROCESSORS[0][2], {}, plain, flags)
    if calls != 0 or portable != hashes[0]:
        raise RuntimeError("the file without its sections gives other results")
    cells.append("the same")
    if not options.folder:
        os.remove(plain)
        os.remove(module)
    return cells


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", default=",".join(m[0] for m in MODELS))
    parser.add_argument("--runs", type=int, default=1, help="makes so many calls after the four that are judged")
    parser.add_argument("--folder", help="leaves the modules in this folder (default: they are removed)")
    options = parser.parse_args()
    wanted = options.models.split(",")
    known = {m[0] for m in MODELS}
    if not set(wanted) <= known:
        sys.exit(f"prejit_models: --models: expected some of {', '.join(sorted(known))}, found {options.models}")
    head = ["model", "module"] + [f"+ {p[0]} (weights)" for p in PROCESSORS] + ["kernels"]
    rows, failed = [head + [p[1] for p in PROCESSORS] + ["portable"]], False
    with tempfile.TemporaryDirectory() as scratch:
        for model in MODELS:
            if model[0] not in wanted:
                continue
            try:
                rows.append(measure(*model, options, options.folder or scratch))
            except (RuntimeError, OSError, subprocess.SubprocessError) as error:
                failed = True
                print(f"prejit_models: {model[0]}: {error}", file=sys.stderr)
    if len(rows) > 1:
        compare_ort.print_lines(rows)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
