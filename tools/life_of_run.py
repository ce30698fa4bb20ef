#!/usr/bin/env python3
"""The life of one process: each call's latency from a cold start with --tier=auto, beside ONNX Runtime.

usage: life_of_run.py [--rounds 3] [--threads 1,2] [--runs 30] [--seconds 5] [--settle 60] [--json FILE]
                      [--calls] MODEL.onnx...

In each round, each in a process of its own: the interpreter alone (tier 0); auto with an empty kernel cache on disk; the
interpreter again; auto with what the first left in the cache (warm); ONNX Runtime. Columns, medians over the rounds:

  first ms     loading and the first call: of the module compiled beforehand; with ONNX Runtime, of the .onnx
  steady ms    a call when everything has been decided
  after        seconds from the start, and calls, until the median of five calls is within 10% of that for good;
               in brackets: until every dispatch has the kernel that it will have
  tier-up      of the calls before that, as multiples of the median call of the interpreter that ran before: the median; the
               slowest call by number (of the rounds' medians of call 2, call 3 ... the largest: what the machine's other
               work does to a call it does not do in most rounds to the same one); the largest single multiple of a round;
               and how many of 100 calls are above 1.1. For tier 0 the same of as many of its calls as the cold start had
               before all was decided: what the machine does
  waited       of the same calls: how long their threads waited for a core that other threads of this machine had, the
               compiler's among them (not what a hypervisor takes), as multiples of the same median: the largest of 99 of
               100 calls, the largest, and how many of 100 calls waited for more than 0.1
  compile      milliseconds of the compiling thread, kernels; from the cache: how many needed no compiling

--calls prints the latencies themselves (the first round's, shortened). Five rounds or more tell what is the machine's and
what is ours. See compare_ort.py for where things are (environment).
"""

import argparse
import json
import os
import statistics
import sys
import tempfile

import compare_ort

# A call number counts where so large a part of the rounds had it before they were settled.
PART_OF_ROUNDS = 0.5


def measure_life(module, threads, tier, options, folder, flags):
    life = os.path.join(folder, "life.json")
    compare_ort.output_of(
        [os.path.join(compare_ort.BIN, "vm-bench"), module, f"--tier={tier}", f"--threads={threads}",
         f"--runs={options.runs}", f"--seconds={options.seconds}", f"--settle={options.settle}",
         f"--life={life}"] + flags)
    with open(life, encoding="utf-8") as file:
        return json.load(file)[0]


def steady_call(life):
    """The first call from which on the median of any five is within 10% of the measured ones'."""
    calls, limit = life["calls_ms"], life["median_ms"] * 1.1
    first = life["warmup_calls"]
    while first > 0 and statistics.median(calls[first - 1:first + 4]) <= limit:
        first -= 1
    return first


def seconds_until(life, call):
    return (life["load_ms"] + sum(life["calls_ms"][:call])) / 1e3


def describe(life):
    steady = steady_call(life)
    return {
        "first_ms": life["first_ms"],
        "steady_ms": life["median_ms"],
        "steady_s": seconds_until(life, steady),
        "steady_call": steady,
        "settled_s": seconds_until(life, life["warmup_calls"]) if life["is_settled"] else None,
        "compile_ms": life["compile_ms"],
        "kernels": life["kernels"],
        "kernels_loaded": life["kernels_loaded"],
        "tier_mix": life["tier_mix"],
    }


# The interpreter's first calls make plans and touch memory first.
FIRST_CALLS = 5
CALLS_OF_TIER0 = 100


def multiples(calls, unit):
    return [ms / unit for ms in calls]


def measure_round(module, model, threads, options, folder):
    off = ["--no-kernel-cache"] + options.flag
    calls, measured = CALLS_OF_TIER0, {}
    with tempfile.TemporaryDirectory() as cache:
        os.chmod(cache, 0o700)
        on = [f"--kernel-cache={cache}"] + options.flag
        for start in ("cold", "warm"):
            of_tier0 = argparse.Namespace(runs=calls, seconds=options.settle, settle=0)
            interpreted = measure_life(module, threads, "0", of_tier0, folder, off)
            unit = statistics.median(interpreted["calls_ms"][FIRST_CALLS:])
            life = measure_life(module, threads, "auto", options, folder, on)
            measured[start] = {**describe(life), "calls_ms": life["calls_ms"],
                               "multiples": multiples(life["calls_ms"][:life["warmup_calls"]], unit),
                               "waits": multiples(life["waits_ms"][:life["warmup_calls"]], unit)}
            # The slowest of many is slower than that of a few.
            calls = max(calls, life["warmup_calls"])
    ort = compare_ort.measure_ort(model, threads, [], options)
    return {
        "tier0": {"first_ms": interpreted["first_ms"], "median_ms": unit,
                  "multiples": multiples(interpreted["calls_ms"], unit),
                  "waits": multiples(interpreted["waits_ms"], unit)},
        **measured,
        "ort": {"first_ms": ort["first_ms"], "median_ms": ort["median_ms"]},
    }


def median_of(rounds, engine, key):
    values = [r[engine][key] for r in rounds if r[engine][key] is not None]
    return statistics.median(values) if values else None


HEAD = ("model", "threads", "start", "first ms", "steady ms", "after s (calls) [decided]",
        "tier-up med / slowest / single, >1.1", "waited p99 / largest, >0.1", "compile ms (kernels)", "tiers")


def tier_up_text(rounds, start):
    """Of the calls behind the first, which also makes plans and touches memory first, at every tier."""
    rounds = [r[start]["multiples"][1:] for r in rounds]
    rounds = [multiples for multiples in rounds if multiples]
    if not rounds:
        return "–"
    by_call = []
    for i in range(max(len(multiples) for multiples in rounds)):
        at = [multiples[i] for multiples in rounds if len(multiples) > i]
        if len(at) >= PART_OF_ROUNDS * len(rounds):
            by_call.append(statistics.median(at))
    typical = statistics.median(statistics.median(multiples) for multiples in rounds)
    single = statistics.median(max(multiples) for multiples in rounds)
    above = statistics.median(sum(x > 1.1 for x in multiples) / len(multiples) for multiples in rounds)
    return f"{typical:.2f}x / {max(by_call):.2f}x / {single:.2f}x, {above:.0%}"


def waits_text(rounds, start):
    waits = sorted(x for r in rounds for x in r[start]["waits"][1:])
    if not waits:
        return "–"
    above = sum(x > 0.1 for x in waits) / len(waits)
    return f"{waits[int(0.99 * (len(waits) - 1))]:.2f}x / {waits[-1]:.2f}x, {above:.1%}"


def auto_cells(name, threads, rounds, start):
    value = lambda key: median_of(rounds, start, key)
    decided = value("settled_s")
    after = f"{value('steady_s'):.2f} ({value('steady_call'):.0f}) [" + \
        ("not" if decided is None else f"{decided:.2f}") + "]"
    kernels = f"{value('kernels'):.0f}"
    if value("kernels_loaded"):
        kernels += f", {value('kernels_loaded'):.0f} from the cache"
    return (name, str(threads), f"auto, {start}", f"{value('first_ms'):.1f}", f"{value('steady_ms'):.3f}", after,
            tier_up_text(rounds, start), waits_text(rounds, start), f"{value('compile_ms'):.0f} ({kernels})",
            rounds[0][start]["tier_mix"])


def rows_of(name, threads, rounds):
    value = lambda engine, key: median_of(rounds, engine, key)
    return [
        (name, str(threads), "tier 0", f"{value('tier0', 'first_ms'):.1f}", f"{value('tier0', 'median_ms'):.3f}", "",
         tier_up_text(rounds, "tier0"), waits_text(rounds, "tier0"), "", ""),
        auto_cells(name, threads, rounds, "cold"),
        auto_cells(name, threads, rounds, "warm"),
        (name, str(threads), "ONNX Runtime", f"{value('ort', 'first_ms'):.1f}", f"{value('ort', 'median_ms'):.3f}", "",
         "", "", "", ""),
    ]


def shortened(calls):
    """Runs of calls that differ little as one: 'from call 12: 8.1 ms'."""
    lines, level = [], None
    for i, ms in enumerate(calls):
        near = statistics.median(calls[i:i + 5]) if i > 0 else ms
        if level is None or not 0.9 < near / level < 1.1:
            level = near
            lines.append(f"  from call {i + 1:5}: {near:.3f} ms")
    return lines


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", metavar="MODEL.onnx")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--runs", type=int, default=30)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--settle", type=float, default=60)
    parser.add_argument("--flag", action="append", default=[], help="of vm-bench, for all its runs")
    parser.add_argument("--calls", action="store_true")
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args()
    options.warmup = 2
    return options


def measure_model(model, folder, options):
    """(threads, rounds), for each count of threads."""
    name = os.path.basename(model)
    module = os.path.join(folder, name + ".vmfb")
    compare_ort.output_of([os.path.join(compare_ort.BIN, "vm-compile"), model, "-o", module])
    for threads in (int(count) for count in options.threads.split(",")):
        rounds = []
        for number in range(options.rounds):
            rounds.append(measure_round(module, model, threads, options, folder))
            print(f"{name}, {threads} threads, round {number + 1}", file=sys.stderr)
        yield threads, rounds
    os.remove(module)


def main():
    options = parse_arguments()
    rows, measured = [], []
    with tempfile.TemporaryDirectory() as folder:
        for model in options.models:
            name = os.path.basename(model).removesuffix(".onnx")
            try:
                for threads, rounds in measure_model(model, folder, options):
                    rows += rows_of(name, threads, rounds)
                    measured.append({"model": name, "threads": threads, "rounds": rounds})
                    if options.calls:
                        print("\n".join([f"{name}, {threads} threads"] + shortened(rounds[0]["cold"]["calls_ms"])))
            except (RuntimeError, OSError) as error:
                print(f"life_of_run: {name}: {error}", file=sys.stderr)
    if rows:
        compare_ort.print_lines([HEAD] + rows)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(measured, file, indent=1)
    return 0 if rows else 1


if __name__ == "__main__":
    sys.exit(main())
