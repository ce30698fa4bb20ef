#!/usr/bin/env python3
"""Tunes the nine peer models and compares modules with the schedules that were found to those without. `./dev tune-models` calls it.

usage: tune_models.py [--models NAME,...] [--minutes 1,5,10] [--workers N] [--seconds 10]

For each model and each number of minutes, vm-tune continues from the model's records until it has searched for so long in all,
and vm-prejit puts the schedules into a module. That module and the one without schedules then take turns to run, one call each
(turns.py), at tier 2 with one thread, in new processes. "ratio" is the median over the rounds of a call's time with the schedules
divided by that without. The last line has the geometric mean of the ratios.

A step that is done is in FOLDER/NAME.json and is not repeated, so the command may be stopped and called again.

Environment: EMBER_BIN, the folder of the tools (bazel-bin/tools); EMBER_PEERS, the models of ../shared/peers/gen_models.py
(~/.cache/ember/peer_models); EMBER_SHARED (../shared); EMBER_TUNING, the folder of the results (~/.cache/ember/tuning).
Exit status 0: all steps were done.
"""

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile

import turns

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CACHE = os.path.join(os.environ.get("XDG_CACHE_HOME", os.path.expanduser("~/.cache")), "ember")
BIN = os.environ.get("EMBER_BIN", os.path.join(ROOT, "bazel-bin/tools"))
PEERS = os.environ.get("EMBER_PEERS", os.path.join(CACHE, "peer_models"))
SHARED = os.environ.get("EMBER_SHARED", os.path.join(ROOT, "../shared"))
FOLDER = os.environ.get("EMBER_TUNING", os.path.join(CACHE, "tuning"))

MODELS = ("resnet50", "resnet18", "squeezenet", "densenet121", "shufflenet", "mobilenetv2", "bert_base", "gpt2_step", "mlp_tiny")


def tool(name, *arguments):
    subprocess.run([os.path.join(BIN, name), *arguments], check=True)


def make_model(name):
    """Returns the path of the compiled model, and makes it if it is missing."""
    module = os.path.join(FOLDER, f"{name}.vmfb")
    if os.path.exists(module):
        return module
    model = os.path.join(PEERS, f"{name}.onnx")
    if not os.path.exists(model):
        os.makedirs(PEERS, exist_ok=True)
        subprocess.run(["/usr/bin/python3", os.path.join(SHARED, "peers/gen_models.py"), "--out", PEERS, name], check=True)
    tool("vm-compile", model, "-o", module)
    return module


def compare(default, tuned, seconds):
    """Returns (median milliseconds of the default, ratio, rounds); the modules take turns."""
    calls = []
    with tempfile.TemporaryDirectory() as folder:
        lives = [os.path.join(folder, f"{i}.json") for i in range(2)]
        turns.run([[os.path.join(BIN, "vm-bench"), module, "--tier=2", "--threads=1", "--warmup=3", f"--seconds={2 * seconds}",
                    "--runs=1000000", "--no-kernel-cache", f"--life={life}"] for module, life in zip((default, tuned), lives)])
        for path in lives:
            with open(path, encoding="utf-8") as file:
                life = json.load(file)[0]
            calls.append(life["calls_ms"][life["warmup_calls"]:])
    rounds = min(len(c) for c in calls)
    ratio = statistics.median(calls[1][i] / calls[0][i] for i in range(rounds))
    return statistics.median(calls[0][:rounds]), ratio, rounds


def load(path):
    if not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def store(path, results):
    with open(path + ".new", "w", encoding="utf-8") as file:
        json.dump(results, file, indent=1)
    os.replace(path + ".new", path)


def tune(name, minutes, options):
    """Tunes a model up to each number of minutes. Returns the results by number of minutes."""
    path = os.path.join(FOLDER, f"{name}.json")
    results = load(path)
    module = make_model(name)
    records = os.path.join(FOLDER, f"{name}.db")
    before = 0
    for limit in minutes:
        if str(limit) not in results:
            workers = [f"--workers={options.workers}"] if options.workers else []
            tool("vm-tune", module, f"--records={records}", f"--seconds={60 * (limit - before)}", *workers)
            tuned = os.path.join(FOLDER, f"{name}.{limit}.vmfb")
            tool("vm-prejit", module, f"--tuning-records={records}", "-o", tuned)
            median, ratio, rounds = compare(module, tuned, options.seconds)
            results[str(limit)] = {"default_ms": median, "ratio": ratio, "rounds": rounds}
            store(path, results)
        before = limit
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--minutes", default="1,5,10")
    parser.add_argument("--workers", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=10, help="compares for so many seconds of calls of each module")
    options = parser.parse_args()
    os.makedirs(FOLDER, exist_ok=True)
    minutes = [int(m) for m in options.minutes.split(",")]
    last = []
    for name in options.models.split(","):
        results = tune(name, minutes, options)
        row = "  ".join(f"{m} min {results[str(m)]['ratio']:.3f}" for m in minutes)
        print(f"{name:14} default {results[str(minutes[-1])]['default_ms']:9.3f} ms  of its time after {row}", flush=True)
        last.append(results[str(minutes[-1])]["ratio"])
    mean = math.exp(statistics.mean(math.log(r) for r in last))
    print(f"geometric mean after {minutes[-1]} min: {mean:.3f} of the default's time", flush=True)


if __name__ == "__main__":
    try:
        main()
    except subprocess.CalledProcessError as error:
        sys.exit(f"tune_models.py: {error}")
