#!/usr/bin/env python3
"""Measures the life of one process: each call's latency from a cold start with --tier=auto, compared with ONNX Runtime.

usage: life_of_run.py [--rounds 3] [--threads 1,2] [--runs 30] [--seconds 5] [--settle 60] [--json FILE]
                      [--calls] MODEL.onnx...

Each round has these measurements, each in a process of its own: auto with an empty kernel cache on disk (cold), first alone,
and then with another cache, taking turns with two processes that interpret (tier 0); the same with the caches that these have
filled (warm); the interpreter alone, for as many calls; ONNX Runtime. Columns are medians over the rounds:

  first ms     loading and the first call: of the module compiled beforehand; with ONNX Runtime, of the .onnx
  steady ms    a call when everything has been decided
  after        seconds from the start, and calls, until the median of five calls is within 10% of that for good;
               in brackets: until every dispatch has the kernel that it will have
  tier-up      calls before that, as multiples of calls of the interpreter, which a second process makes in turns with them,
               16 calls each (turns.py): the median; the slowest turn by its number (the largest of the medians of all rounds'
               calls in turn 1, turn 2 ...: other work on the machine does not hit the same turn in most rounds); the largest
               single multiple of a round; and how many of 100 calls are above 1.1. The unit is the median of the
               interpreter's turns before and after. Tier 0 has the same figures of a third process, which also interprets
               and takes its turns as auto does: they show the machine's influence. A process's first call does not count,
               nor does the first call of a turn
  waited       calls before everything was decided, of the processes that ran alone: how long their threads waited for a core
               that other threads of this machine had, the compiler's among them (without the time that a hypervisor takes),
               as multiples of the median call of the interpreter alone: the largest of 99 of 100 calls, the largest, and how
               many of 100 calls waited for more than 0.1
  compile      milliseconds of the compiling thread; number of kernels; from the cache: how many of them were not compiled

--calls prints the latencies themselves (the first round's, shortened). Five rounds or more distinguish the machine's
influence from ours. See compare_ort.py for the environment.
"""

import argparse
import json
import os
import statistics
import sys
import tempfile

import compare_ort
import turns

# The table shows the n-th period of a process (an entry of `turns`) only if, in at least this
# share of the rounds, it came before all dispatches had their final kernels.
PART_OF_ROUNDS = 0.5


def life_command(module, threads, tier, runs, seconds, settle, life, flags):
    return [os.path.join(compare_ort.BIN, "vm-bench"), module, f"--tier={tier}", f"--threads={threads}", f"--runs={runs}",
            f"--seconds={seconds}", f"--settle={settle}", f"--life={life}"] + flags


def read_life(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)[0]


def measure_life(module, threads, tier, runs, seconds, settle, folder, flags):
    life = os.path.join(folder, "life.json")
    compare_ort.output_of(life_command(module, threads, tier, runs, seconds, settle, life, flags))
    return read_life(life)


def steady_call(life):
    """Returns the first call from which on the median of any five is within 10% of the measured calls' median."""
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


# Number of first calls that are left out, because in them the interpreter makes its plans and
# touches its memory for the first time.
FIRST_CALLS = 5
LEAST_CALLS_OF_TIER0 = 100

# Each process has a role: UNIT runs tier 0 and gives the unit of time, AUTO runs tier auto,
# and TIER0 runs tier 0 as a control. ORDER is the order in which they run, one at a time.
AUTO, TIER0, UNIT = range(3)
ORDER = (UNIT, AUTO, UNIT, TIER0)
CALLS_OF_TURN = 16


def units_of(lives, taken):
    """Returns the median call of the interpreter in each turn of UNIT, by the number of the turn."""
    units = {}
    for number, (player, first) in enumerate(taken):
        calls = lives[player]["calls_ms"][first + 1:first + CALLS_OF_TURN]
        if player == UNIT and calls:
            units[number] = statistics.median(calls)
    return units


def multiples_in_turns(lives, taken, player):
    """Returns the calls of each of the player's turns as multiples of UNIT's turns before and after. Turns without both are left out."""
    units = units_of(lives, taken)
    last_call = lives[AUTO]["warmup_calls"]
    multiples = []
    for number, (who, first) in enumerate(taken):
        if who != player or number - 1 not in units or number + 1 not in units:
            continue
        unit = (units[number - 1] + units[number + 1]) / 2
        calls = lives[player]["calls_ms"][first + 1:min(first + CALLS_OF_TURN, last_call)]
        multiples.append([ms / unit for ms in calls])
    return multiples


def measure_in_turns(module, threads, options, folder, on, off):
    paths = [os.path.join(folder, f"life{player}.json") for player in (AUTO, TIER0, UNIT)]
    # A process waits for the other processes in each round, and its time to settle includes the
    # waiting. So the limit is multiplied by the number of entries in ORDER.
    settle = options.settle * len(ORDER)
    auto = life_command(module, threads, "auto", 1, 0, settle, paths[AUTO], on)
    tier0 = [life_command(module, threads, "0", 1000000, 2 * settle, 0, paths[player], off)
             for player in (TIER0, UNIT)]
    taken = turns.run([auto] + tier0, ORDER, CALLS_OF_TURN)
    lives = [read_life(path) for path in paths]
    return [multiples_in_turns(lives, taken, player) for player in (AUTO, TIER0)]


def measure_round(module, model, threads, options, folder):
    off = ["--no-kernel-cache"] + options.flag
    measured, lives, calls = {}, {}, LEAST_CALLS_OF_TIER0
    with tempfile.TemporaryDirectory() as cache, tempfile.TemporaryDirectory() as cache_in_turns:
        for start in ("cold", "warm"):
            on = [f"--kernel-cache={cache}"] + options.flag
            life = measure_life(module, threads, "auto", options.runs, options.seconds, options.settle, folder, on)
            lives[start] = life
            # The largest of many waits tends to be larger than that of few. So
            # the interpreter makes at least as many calls as tier auto makes
            # before everything is decided, and the largest waits can be
            # compared.
            calls = max(calls, life["warmup_calls"])
            on = [f"--kernel-cache={cache_in_turns}"] + options.flag
            auto, tier0 = measure_in_turns(module, threads, options, folder, on, off)
            measured[start] = {**describe(life), "calls_ms": life["calls_ms"], "multiples": auto, "tier0_multiples": tier0}
    interpreted = measure_life(module, threads, "0", calls, options.settle, 0, folder, off)
    unit = statistics.median(interpreted["calls_ms"][FIRST_CALLS:])
    for start, life in lives.items():
        measured[start]["waits"] = [ms / unit for ms in life["waits_ms"][:life["warmup_calls"]]]
    ort = compare_ort.measure_ort(model, threads, [], options)
    return {
        "tier0": {"first_ms": interpreted["first_ms"], "median_ms": unit,
                  "multiples": measured["cold"]["tier0_multiples"],
                  "waits": [ms / unit for ms in interpreted["waits_ms"]]},
        **measured,
        "ort": {"first_ms": ort["first_ms"], "median_ms": ort["median_ms"]},
    }


def median_of(rounds, engine, key):
    values = [r[engine][key] for r in rounds if r[engine][key] is not None]
    return statistics.median(values) if values else None


HEAD = ("model", "threads", "start", "first ms", "steady ms", "after s (calls) [decided]",
        "tier-up med / slowest turn / single, >1.1", "waited p99 / largest, >0.1", "compile ms (kernels)", "tiers")


def tier_up_text(rounds, start):
    rounds = [r[start]["multiples"] for r in rounds]
    calls = [[multiple for turn in turns_of for multiple in turn] for turns_of in rounds]
    if not all(calls):
        return "–"
    by_turn = []
    for i in range(max(len(turns_of) for turns_of in rounds)):
        at = [turns_of[i] for turns_of in rounds if len(turns_of) > i and turns_of[i]]
        if len(at) >= PART_OF_ROUNDS * len(rounds):
            by_turn.append(statistics.median(multiple for turn in at for multiple in turn))
    typical = statistics.median(statistics.median(multiples) for multiples in calls)
    single = statistics.median(max(multiples) for multiples in calls)
    above = statistics.median(sum(x > 1.1 for x in multiples) / len(multiples) for multiples in calls)
    return f"{typical:.2f}x / {max(by_turn):.2f}x / {single:.2f}x, {above:.0%}"


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
    """Shortens latencies: runs of calls that differ little become one, 'from call 12: 8.1 ms'."""
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
    parser.add_argument("--flag", action="append", default=[], help="passes a flag to all runs of vm-bench")
    parser.add_argument("--calls", action="store_true")
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args()
    options.warmup = 2
    return options


def measure_model(model, folder, options):
    """Returns (threads, rounds) for each number of threads."""
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
