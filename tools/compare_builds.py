#!/usr/bin/env python3
"""Compares the speed of a module in several builds, with other schedules, or compiled differently.

usage: compare_builds.py [--seconds 2] [--threads 1] [--tier 2] MODEL.vmfb NAME=BIN[,schedules=DIR][,model=OTHER.vmfb]...

BIN is a folder with vm-bench (and with ../jit/libember_jit.so), such as a copy of bazel-bin/tools. Once every dispatch has
its kernel, the builds take turns to call the model, one call each (turns.py). "ratio" is the median over the rounds of a
call's time divided by the time of the first build's call in the same round. It is valid even while other programs use the
machine.

  cp -rL bazel-bin/tools /tmp/old/tools; ...
  compare_builds.py resnet50.vmfb old=/tmp/old/tools new=bazel-bin/tools
"""

import argparse
import json
import os
import statistics
import tempfile

import turns


def parse_build(text):
    name, _, rest = text.partition("=")
    binary, *settings = rest.split(",")
    settings = dict(setting.partition("=")[::2] for setting in settings)
    if not rest or set(settings) - {"schedules", "model"}:
        raise argparse.ArgumentTypeError(
            f"'{text}': expected NAME=BIN[,schedules=DIR][,model=OTHER.vmfb]")
    return name, binary, settings


def command_of(build, options, life):
    _, binary, settings = build
    command = [os.path.join(binary, "vm-bench"), settings.get("model", options.model), f"--tier={options.tier}",
               f"--threads={options.threads}", "--warmup=3", f"--seconds={options.seconds * len(options.builds)}",
               "--runs=1000000", "--no-kernel-cache", f"--life={life}"]
    if "schedules" in settings:
        command.append(f"--schedules={settings['schedules']}")
    return command


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=2, help="measures each build for so many seconds of calls")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--tier", default="2")
    parser.add_argument("model", metavar="MODEL.vmfb")
    parser.add_argument("builds", nargs="+", type=parse_build, metavar="NAME=BIN")
    options = parser.parse_args()
    calls = []
    with tempfile.TemporaryDirectory() as folder:
        lives = [os.path.join(folder, f"{i}.json") for i in range(len(options.builds))]
        turns.run([command_of(build, options, life) for build, life in zip(options.builds, lives)])
        for path in lives:
            with open(path, encoding="utf-8") as file:
                life = json.load(file)[0]
            calls.append(life["calls_ms"][life["warmup_calls"]:])
    count = min(len(c) for c in calls)
    width = max(len(build[0]) for build in options.builds)
    for (name, _, _), c in zip(options.builds, calls):
        ratio = statistics.median(c[i] / calls[0][i] for i in range(count))
        print(f"{name:{width}}  median {statistics.median(c[:count]):9.3f} ms  least {min(c[:count]):9.3f} ms  "
              f"ratio {ratio:.3f}  ({count} turns)")


if __name__ == "__main__":
    main()
