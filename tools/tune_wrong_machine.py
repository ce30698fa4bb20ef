#!/usr/bin/env python3
"""Tunes a model for a processor that the default rules were not made for. `./dev tune-wrong-machine` calls it.

usage: tune_wrong_machine.py MODEL [--seconds 300] [--machine +l1=8K+l2=64K+l3=1024K] [--compare 15] [--folder DIR]

The default rules get a wrong model of this machine: no vectors of more than 16 bytes, and the caches of --machine. Kernels are
compiled for the machine as it is, so only the schedules are wrong. Three modules then take turns to run, one call each, at tier 2
with one thread:

  wrong   the schedules that the rules choose for the wrong model
  tuned   those that vm-tune found in --seconds, starting from the wrong ones; the cost model sees the wrong machine, too
  right   the schedules that the rules choose for this machine

A line has the median over the rounds of a call's time divided by that of "wrong". With --folder, records are kept there, and a
second call continues the search. Environment: EMBER_BIN, the folder of the tools (bazel-bin/tools). Exit status 0.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile

import tune_fleet

BIN = tune_fleet.BIN


def tool(name, *arguments):
    subprocess.run([os.path.join(BIN, name), *arguments], check=True, stdout=subprocess.DEVNULL)


def read(path):
    """Returns the schedules of a file by key: (the words of the first line, the text of the others)."""
    with open(path, encoding="utf-8") as file:
        parts = re.split(r"^schedule ", file.read(), flags=re.M)[1:]
    schedules = {}
    for part in parts:
        head, steps = part.split("\n", 1)
        schedules[head.split(" ")[0]] = (head.split(" "), steps)
    return schedules


def write(path, schedules, target):
    with open(path, "w", encoding="utf-8") as file:
        file.write("ember schedules 1\n")
        for key in sorted(schedules):
            words, steps = schedules[key]
            file.write("schedule " + " ".join([key, target, *words[2:]]) + "\n" + steps)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("--seconds", type=int, default=300)
    parser.add_argument("--machine", default="+l1=8K+l2=64K+l3=1024K")
    parser.add_argument("--compare", type=float, default=15, help="compares for so many seconds of calls of each module")
    parser.add_argument("--folder", default="")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or temporary
        os.makedirs(folder, exist_ok=True)
        path = lambda name: os.path.join(folder, name)
        tool("vm-tune", options.model, "--records=" + path("none.db"), "--export-default=" + path("right.schedules"))
        right = read(path("right.schedules"))
        host = next(iter(right.values()))[0][1]
        wrong_target = host.split("+")[0] + options.machine + "+cores=1"
        print(f"right: {host}\nwrong: {wrong_target}", flush=True)
        wrong_flags = ["--target=" + wrong_target, "--records=" + path("wrong.db")]
        tool("vm-tune", options.model, *wrong_flags, "--export-default=" + path("wrong.schedules"))
        wrong = read(path("wrong.schedules"))
        tool("vm-tune", options.model, *wrong_flags, f"--seconds={options.seconds}", "--workers=1", "--export=" + path("tuned.schedules"))
        tuned = dict(wrong, **read(path("tuned.schedules")))
        modules = []
        for name, schedules in (("wrong", wrong), ("tuned", tuned), ("right", right)):
            write(path(name + ".host.schedules"), schedules, host)
            tool("vm-prejit", options.model, "--tuning-records=" + path(name + ".host.schedules"), "-o", path(name + ".vmfb"))
            modules.append(path(name + ".vmfb"))
        different = sum(wrong[key][1] != right.get(key, ("", ""))[1] for key in wrong)
        print(f"{different} of {len(wrong)} dispatches have another default schedule with the wrong machine", flush=True)
        for name, ratio in zip(("wrong", "tuned", "right"), tune_fleet.again(modules, options.compare)):
            print(f"{name}: {ratio:.3f} of the wrong default's time", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
