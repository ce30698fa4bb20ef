#!/usr/bin/env python3
"""Compares vm-bench with ONNX Runtime in the same run. `./dev bench` calls it.

usage: compare_ort.py [--rounds 3] [--threads 1,2] [--seconds 5] [--shape NAME=1x3x8]...
                      [--at "[LABEL: ]NAME=1x8 NAME=@b.npy"]... [--json FILE] MODEL.onnx...

In a round, both engines run for --seconds each, in processes of their own that take turns: one is stopped
(SIGSTOP) while the other makes some calls. So both see the same load of other programs, which can halve a
processor's speed for seconds. A call during which its process is stopped takes long, but does not change the
median. Before that, each engine loads the model and calls it while the other does not run: "first ms".
A row is the median over the rounds of each side's median, their ratio (above 1: Ember is slower), and
the spread of the rounds ((largest - smallest) / median). Ember runs a module compiled beforehand, in
seconds that the "compile" column shows; ONNX Runtime reads the .onnx. Memory of ONNX Runtime includes
node's. Both get the same inputs; "max diff" is the largest difference of any result,
relative to its largest element. If there is a file MODEL.flops next to the model, "of peak" is the share of
the f32 multiply-add peak, which is measured in every round.

--shape pins dims when the module is compiled. --at does not: each one gives the inputs of one call, as shapes
or recorded tensors (NAME=@FILE.npy), and has a row of its own, which shows the label if there is one. All of them run the same module, compiled with
open dims. ONNX Runtime loads the model for each, so it carries nothing over.

Environment: EMBER_BIN, the folder of vm-compile and vm-bench (bazel-bin/tools);
ORT_DIR, where `npm install --ignore-scripts onnxruntime-node@1.30.0` was run (~/.cache/ember/ort);
ORT_BENCH, ort_bench.mjs (../shared/peers/ort_bench.mjs).
"""

import argparse
import array
import json
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

import children

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def setting(name, default):
    return os.environ.get(name) or default


BIN = setting("EMBER_BIN", os.path.join(ROOT, "bazel-bin/tools"))
CACHE = setting("XDG_CACHE_HOME", os.path.expanduser("~/.cache"))
ORT_DIR = setting("ORT_DIR", os.path.join(CACHE, "ember/ort"))
ORT_BENCH = setting("ORT_BENCH", os.path.join(ROOT, "../shared/peers/ort_bench.mjs"))


def output_of(command, **kwargs):
    done = subprocess.run(command, capture_output=True, text=True, preexec_fn=children.end_with_parent, **kwargs)
    if done.returncode != 0:
        lines = (done.stderr or done.stdout).strip().splitlines() or ["no message"]
        raise RuntimeError(lines[-1])
    return done.stdout


def input_flags(inputs):
    """Returns the flags for Ember's tools and those for ort_bench.mjs."""
    ours, theirs = [], []
    for one in inputs:
        is_file = "=@" in one
        ours.append(f"--input={one}" if is_file else f"--shape={one}")
        theirs += ["--input", one.replace("=@", "=", 1)] if is_file else ["--shape", one]
    return ours, theirs


# The two engines run alternately. Each runs until the slower engine would have made
# CALLS_PER_TURN calls, and at least for SHORTEST_TURN seconds, before the other one continues.
CALLS_PER_TURN = 5
SHORTEST_TURN = 0.1
# Upper limit of the runs of a measurement, so large that the time limit --seconds
# always ends the measurement first.
MOST_RUNS = 1000000


def command_of_ember(module, threads, inputs, options, runs, seconds):
    command = [os.path.join(BIN, "vm-bench"), module, "-o", "json", f"--threads={threads}",
               f"--tier={options.tier}"]
    command += [f"--runs={runs}", f"--seconds={seconds}", f"--warmup={options.warmup}"]
    return command + input_flags(inputs)[0]


def command_of_ort(model, threads, inputs, options, runs, seconds):
    command = ["node", ORT_BENCH, model, "--threads", str(threads), "--runs", str(runs)]
    command += ["--seconds", str(seconds), "--warmup", str(options.warmup)]
    return command + input_flags(inputs)[1]


def parse_ember(output):
    return json.loads(output)[0]


def measure_ember(module, threads, inputs, options):
    return parse_ember(output_of(
        command_of_ember(module, threads, inputs, options, options.runs, options.seconds)))


def measure_ort(model, threads, inputs, options):
    return json.loads(output_of(
        command_of_ort(model, threads, inputs, options, options.runs, options.seconds),
        env=dict(os.environ, ORT_DIR=ORT_DIR)))


def start_stopped(command):
    """Starts a process, stopped, in a session of its own, whose processes are stopped and continued together."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               start_new_session=True, preexec_fn=children.end_with_parent,
                               env=dict(os.environ, ORT_DIR=ORT_DIR))
    os.killpg(process.pid, signal.SIGSTOP)
    return process


def run_in_turns(commands, turn):
    """Returns the outputs of the commands. They take turns: one at a time runs for `turn` seconds."""
    processes = [start_stopped(command) for command in commands]
    # Waiting for each process in order cannot deadlock: a process prints one line, which fits in
    # the pipe's buffer.
    try:
        while any(process.poll() is None for process in processes):
            for process in processes:
                if process.poll() is not None:
                    continue
                os.killpg(process.pid, signal.SIGCONT)
                try:
                    process.wait(turn)
                except subprocess.TimeoutExpired:
                    os.killpg(process.pid, signal.SIGSTOP)
    finally:
        for process in processes:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
    outputs = []
    for process in processes:
        output, errors = process.communicate()
        if process.returncode != 0:
            lines = (errors or output).strip().splitlines() or ["no message"]
            raise RuntimeError(lines[-1])
        outputs.append(output)
    return outputs


def measure_both(module, model, threads, inputs, options):
    """Returns each engine's measurements: the first call without the other engine, the other calls in turns."""
    alone = argparse.Namespace(**{**vars(options), "runs": 3, "seconds": 1})
    ours = measure_ember(module, threads, inputs, alone)
    theirs = measure_ort(model, threads, inputs, alone)
    turn = max(SHORTEST_TURN, CALLS_PER_TURN * max(ours["median_ms"], theirs["median_ms"]) / 1e3)
    # vm-bench is stopped (SIGSTOP) while the other engine runs, but its clock continues. So its
    # time limit includes the other engine's time.
    seconds = 2 * max(options.seconds, 8 * turn)
    output = run_in_turns(
        [command_of_ember(module, threads, inputs, options, MOST_RUNS, seconds),
         command_of_ort(model, threads, inputs, options, MOST_RUNS, seconds)], turn)
    ours["median_ms"] = parse_ember(output[0])["median_ms"]
    theirs["median_ms"] = json.loads(output[1])["median_ms"]
    return ours, theirs


def measure_peak(threads):
    return json.loads(output_of([os.path.join(BIN, "vm-bench"), "--peak", f"--threads={threads}",
                                 "-o", "json"]))[0]["peak_gflops"]


def largest_magnitude(npy):
    """Returns the largest magnitude of a recorded result's elements; 1 if they are not f32 or f64."""
    with open(npy, "rb") as file:
        data = file.read()
    start = 10 + int.from_bytes(data[8:10], "little")
    kind = {"<f4": "f", "<f8": "d"}.get(re.search(rb"'descr': '(.*?)'", data[:start]).group(1).decode())
    magnitudes = (abs(x) for x in array.array(kind, data[start:])) if kind else ()
    return max((x for x in magnitudes if x < float("inf")), default=1) or 1


def largest_difference(module, model, inputs, folder):
    """Returns the largest difference of all results, each relative to its largest element. It must be below 0.1%; both engines
    make the same inputs from the same seed."""
    saved = os.path.join(folder, "saved")
    shutil.rmtree(saved, ignore_errors=True)
    command = ["node", ORT_BENCH, model, "--runs", "1", "--warmup", "0", "--save", saved]
    command += input_flags(inputs)[1]
    output_of(command, env=dict(os.environ, ORT_DIR=ORT_DIR))
    signature = output_of([os.path.join(BIN, "vm-dump"), module, "--part=signature"])
    results = re.search(r"^  results  (.*)$", signature, re.M).group(1)
    worst = 0
    for result in results.split(", "):
        name = result.rsplit(": ", 1)[0]
        wanted = os.path.join(saved, "output_" + re.sub(r"[^\w.-]", "_", name) + ".npy")
        scale = largest_magnitude(wanted)
        command = [os.path.join(BIN, "vm-run"), module, "--print=none", "--rtol=0",
                   f"--atol={scale * 1e-3}", f"--expected={name}=@{wanted}"]
        command += input_flags(inputs)[0]
        try:
            worst = max(worst, float(output_of(command).split()[-1]) / scale)
        except RuntimeError as error:
            print(f"compare_ort: {os.path.basename(model)}: {error}", file=sys.stderr)
            return "differs"
    return f"{worst:.1e}"


def read_flops(model):
    try:
        with open(os.path.splitext(model)[0] + ".flops", encoding="ascii") as file:
            return float(file.read())
    except (OSError, ValueError):
        return None


def spread(values):
    return (max(values) - min(values)) / statistics.median(values)


def summarize(name, threads, ours, theirs, peaks):
    mine = [m["median_ms"] for m in ours]
    other = [m["median_ms"] for m in theirs]
    median = lambda rows, key: statistics.median(row[key] for row in rows)
    return {
        "model": name,
        "threads": threads,
        "ember_ms": statistics.median(mine),
        "ort_ms": statistics.median(other),
        "ratio": statistics.median(mine) / statistics.median(other),
        "ember_spread": spread(mine),
        "ort_spread": spread(other),
        "ember_first_ms": median(ours, "first_ms"),
        "ort_first_ms": median(theirs, "first_ms"),
        "ember_rss_mb": median(ours, "rss_mb"),
        "ort_rss_mb": median(theirs, "rss_mb"),
        "peak_gflops": statistics.median(peaks),
        "rounds": len(mine),
        "tier_mix": ours[0]["tier_mix"],
        "build": ours[0]["build"],
    }


HEAD = ("model", "at", "threads", "Ember ms", "ORT ms", "ratio", "spread E / O", "of peak E / O",
        "first ms E / O", "RSS MB E / O", "compile s", "max diff", "tiers")


def share_of_peak(row):
    if not row["flops"]:
        return "–"
    share = lambda ms: row["flops"] / (ms * 1e6) / row["peak_gflops"]
    return f"{share(row['ember_ms']):.0%} / {share(row['ort_ms']):.0%}"


def cells(row):
    return (
        row["model"],
        row["at"],
        str(row["threads"]),
        f"{row['ember_ms']:.3f}",
        f"{row['ort_ms']:.3f}",
        f"{row['ratio']:.2f}x",
        f"{row['ember_spread']:.0%} / {row['ort_spread']:.0%}",
        share_of_peak(row),
        f"{row['ember_first_ms']:.0f} / {row['ort_first_ms']:.0f}",
        f"{row['ember_rss_mb']:.0f} / {row['ort_rss_mb']:.0f}",
        f"{row['compile_s']:.1f}",
        row["max_diff"],
        row["tier_mix"],
    )


def print_lines(lines):
    """Prints rows as a table; the first one is the heading."""
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    text = lambda line: "| " + " | ".join(c.ljust(w) for c, w in zip(line, widths)) + " |"
    print(text(lines[0]))
    print("|" + "|".join("-" * (w + 2) for w in widths) + "|")
    for line in lines[1:]:
        print(text(line))


def measure(name, label, module, model, threads, inputs, options):
    ours, theirs, peaks = [], [], []
    for number in range(options.rounds):
        our, their = measure_both(module, model, threads, inputs, options)
        ours.append(our)
        theirs.append(their)
        peaks.append(measure_peak(threads))
        print(f"{name} {label}, {threads} threads, round {number + 1}: "
              f"{ours[-1]['median_ms']:.3f} ms and {theirs[-1]['median_ms']:.3f} ms",
              file=sys.stderr)
    return summarize(name, threads, ours, theirs, peaks)


def compare(model, options, folder):
    """Returns the rows of one model: one for each set of inputs and each thread count."""
    name = os.path.basename(model)
    module = os.path.join(folder, name + ".vmfb")
    start = time.monotonic()
    command = [os.path.join(BIN, "vm-compile"), model, "-o", module]
    output_of(command + [f"--shape={shape}" for shape in options.shape])
    compile_s = time.monotonic() - start
    rows = []
    for at in options.at or [None]:
        label, colon, given = (at or "").partition(": ")
        inputs = options.shape + (given if colon else label).split()
        common = {"compile_s": compile_s, "flops": None if at else read_flops(model), "at": label,
                  "max_diff": largest_difference(module, model, inputs, folder)}
        for threads in options.threads:
            rows.append({**measure(name, label, module, model, threads, inputs, options), **common})
    os.remove(module)
    return rows


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", metavar="MODEL.onnx")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--tier", default="auto", help="the tier of Ember: 0, 1, 2 or auto (vm-run --help)")
    parser.add_argument("--warmup", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--shape", action="append", default=[])
    parser.add_argument("--at", action="append", default=[], metavar="INPUTS")
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args()
    options.threads = [int(count) for count in options.threads.split(",")]
    return options


def main():
    options = parse_arguments()
    # Paths that the user typed are relative to the user's folder, but `./dev` changes the current
    # folder.
    folder = os.environ.get("BUILD_WORKING_DIRECTORY")
    models = [os.path.join(folder, m) if folder else m for m in options.models]
    rows, failed = [], False
    with tempfile.TemporaryDirectory() as scratch:
        for model in models:
            try:
                rows += compare(model, options, scratch)
            except (RuntimeError, OSError) as error:
                failed = True
                print(f"compare_ort: {os.path.basename(model)}: {error}", file=sys.stderr)
    if rows:
        print_lines([HEAD] + [cells(row) for row in rows])
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(rows, file, indent=1)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
