#!/usr/bin/env python3
"""Measures the time from the start of a process to its first result, with kernels in the file, compared with ONNX Runtime.
`./dev bench --start` calls it.

usage: start_times.py [--rounds 7] [--runs 10] [--target host] [--json FILE] MODEL.onnx...

Each model is compiled and gets kernels (vm-prejit) beforehand. A round starts two processes, one after the other:
tests/native/time_start, a program with the runtime and no compiler, runs the module with its kernels on one thread; node runs the
.onnx with ONNX Runtime on one thread, all its optimisations on. Both read the same inputs: MODEL.in/manifest.txt and
MODEL.in/<i>.bin, as ../shared/peers/gen_models.py writes them. Files are in the system's cache. Columns, medians over the rounds:

  map, verify, pack, session, run   Ember's ms for mapping the file; reading and verifying the module; installing kernels, which
                 packs weights that are not packed in the file and loads the others; making the session; the first run
  first E / O    ms from before the module or model is opened to the first result: Ember, ONNX Runtime; and their ratio
  process E / O  ms from before the process is started until the first result has arrived here. ONNX Runtime's includes node's own
                 start: `bare` is the time of a node that loads ONNX Runtime's library and ends
  first / steady the first run divided by the median of --runs later ones: Ember, ONNX Runtime; in brackets Ember's in CPU time (in
                 a process of its own), which other programs on the machine change less
  kernels        calls of the first run that ran kernels, and all calls

See compare_ort.py for the environment; EMBER_START is the path of time_start.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

import compare_ort

START = compare_ort.setting("EMBER_START", os.path.join(compare_ort.ROOT, "bazel-bin/tests/native/time_start"))
ORT_START = os.path.join(compare_ort.ROOT, "tools/ort_start.mjs")


def time_process(command):
    """Returns the two lines of JSON that the command prints, merged, and the time at which the first one arrived."""
    start = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               env=dict(os.environ, ORT_DIR=compare_ort.ORT_DIR))
    first = process.stdout.readline()
    arrived = (time.monotonic() - start) * 1e3
    # Lines are read from the pipe directly. communicate() would miss bytes that readline() has
    # already put into its buffer.
    with process:
        rest, errors = process.stdout.read(), process.stderr.read()
    if process.returncode != 0 or not first:
        raise RuntimeError((errors.strip().splitlines() or ["no message"])[-1])
    return {**json.loads(first), **json.loads(rest), "process_ms": arrived}


def time_bare_node():
    script = "process.env.ORT_DIR && require(process.env.ORT_DIR + '/node_modules/onnxruntime-node')"
    start = time.monotonic()
    compare_ort.output_of(["node", "-e", script], env=dict(os.environ, ORT_DIR=compare_ort.ORT_DIR))
    return (time.monotonic() - start) * 1e3


def prepare(model, target, folder):
    name = os.path.splitext(os.path.basename(model))[0]
    inputs = os.path.splitext(model)[0] + ".in"
    if not os.path.exists(os.path.join(inputs, "manifest.txt")):
        raise RuntimeError(f"{inputs}/manifest.txt: expected the model's inputs, found nothing")
    plain, module = os.path.join(folder, "plain.vmfb"), os.path.join(folder, name + ".vmfb")
    compare_ort.output_of([os.path.join(compare_ort.BIN, "vm-compile"), model, "-o", plain])
    compare_ort.output_of([os.path.join(compare_ort.BIN, "vm-prejit"), plain, f"--target={target}", "-o", module])
    os.remove(plain)
    return module, inputs


def measure(model, options, folder):
    module, inputs = prepare(model, options.target, folder)
    ember = [START, module, "--allow-native", f"--inputs={inputs}", f"--runs={options.runs}"]
    ort = ["node", ORT_START, model, inputs, str(options.runs)]
    # The first run of each engine is not measured. It only loads the files into
    # the system's cache.
    time_process(ember)
    time_process(ort)
    rounds = []
    for number in range(options.rounds):
        rounds.append({"ember": time_process(ember), "ort": time_process(ort), "ember_cpu": time_process(ember + ["--cpu"]),
                       "bare_ms": time_bare_node()})
        ours, theirs = rounds[-1]["ember"], rounds[-1]["ort"]
        print(f"{os.path.basename(model)}, round {number + 1}: first result after {ours['first_ms']:.1f} and "
              f"{theirs['first_ms']:.1f} ms", file=sys.stderr)
    os.remove(module)
    return rounds


HEAD = ("model", "map", "verify", "pack", "session", "run", "first E / O", "ratio", "spread E / O", "process E / O (bare)",
        "ratio", "first / steady E (CPU), O", "kernels")


def row_of(name, rounds):
    of = lambda engine, key: [r[engine][key] for r in rounds]
    median = lambda engine, key: statistics.median(of(engine, key))
    steady = lambda engine: statistics.median(r[engine]["run_ms"] / r[engine]["median_ms"] for r in rounds)
    first = [median(engine, "first_ms") for engine in ("ember", "ort")]
    process = [median(engine, "process_ms") for engine in ("ember", "ort")]
    spreads = [compare_ort.spread(of(engine, "first_ms")) for engine in ("ember", "ort")]
    parts = [median("ember", part + "_ms") for part in ("map", "verify", "kernels", "session", "run")]
    last = rounds[-1]["ember"]
    return (name, *(f"{part:.2f}" for part in parts), f"{first[0]:.1f} / {first[1]:.1f}", f"{first[0] / first[1]:.2f}",
            f"{spreads[0]:.0%} / {spreads[1]:.0%}",
            f"{process[0]:.1f} / {process[1]:.1f} ({statistics.median(r['bare_ms'] for r in rounds):.0f})",
            f"{process[0] / process[1]:.2f}", f"{steady('ember'):.2f} ({steady('ember_cpu'):.2f}), {steady('ort'):.2f}",
            f"{last['kernel_calls']} of {last['calls']}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", metavar="MODEL.onnx")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--target", default="host", help="the target of vm-prejit")
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args()
    rows, measured = [], {}
    with tempfile.TemporaryDirectory() as folder:
        for model in options.models:
            name = os.path.basename(model)
            try:
                measured[name] = measure(model, options, folder)
                rows.append(row_of(name, measured[name]))
            except (RuntimeError, OSError, ValueError) as error:
                print(f"start_times: {name}: {error}", file=sys.stderr)
    if rows:
        compare_ort.print_lines([HEAD] + rows)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(measured, file, indent=1)
    return 0 if len(rows) == len(options.models) else 1


if __name__ == "__main__":
    sys.exit(main())
