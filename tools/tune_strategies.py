#!/usr/bin/env python3
"""Compares the strategies of vm-tune on five dispatches: the best schedule so far by number of trials. `./dev tune-strategies` calls it.

usage: tune_strategies.py [--trials 256] [--seeds 1,2,3] [--dispatches NAME,...] [--variants NAME,...] [--print]

Variants:
  draft, evolution, annealing, grid, random   the strategies, with the trained cost model
  draft-untrained    draft without the trained model: the formula alone ranks candidates
  draft-shapes       draft that begins with the schedules of a dispatch with other shapes, which had 64 trials
  draft-target       draft that begins with the schedules of the same dispatch for x86-64-v2, which had 64 trials

Each run has its own records in FOLDER/strategies, so the command may be stopped and called again; --print only prints what there
is. A table has a row per variant: the median over the seeds of the best ratio to the default's time after so many trials (of one
measurement each), for random the smallest and the largest, too; and the trials to 95% of the final best: the median of the first
trial whose speed is 95% of the fastest one that any variant verified. A run that does not reach it counts with all of its trials.

Environment: EMBER_BIN, EMBER_PEERS, EMBER_SHARED, EMBER_TUNING as for tools/tune_models.py. Exit status 0: all runs are there.
"""

import argparse
import os
import re
import shutil
import sqlite3
import statistics
import subprocess
import sys

import tune_models

FOLDER = os.path.join(tune_models.FOLDER, "strategies")
# For each name: the dispatch that is tuned, and another one of the same kind
# with other shapes, whose records may help.
DISPATCHES = {
    "conv3x3-64": (("resnet18", "d2_conv_maximum"), ("resnet18", "d8_conv_maximum")),
    "conv3x3-512": (("resnet18", "d18_conv_maximum"), ("resnet18", "d13_conv_maximum")),
    "matvec-1000": (("resnet18", "d22_contract_add"), ("mobilenetv2", "d53_contract_add")),
    "depthwise-32": (("mobilenetv2", "d1_conv_minimum"), ("mobilenetv2", "d4_conv_minimum")),
    "conv1x1-96": (("mobilenetv2", "d3_conv_minimum"), ("mobilenetv2", "d6_conv_minimum")),
}
STRATEGIES = ("draft", "evolution", "annealing", "grid", "random")
VARIANTS = (*STRATEGIES, "draft-untrained", "draft-shapes", "draft-target")
DONOR_TARGET = "x86-64-v2"
DONOR_TRIALS = 64
MARKS = (8, 16, 32, 64, 128, 256)


def vm_tune(*arguments):
    subprocess.run([os.path.join(tune_models.BIN, "vm-tune"), *arguments], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def task_folder(model, name, target="host"):
    """Returns a folder with the text of one dispatch, and makes it if it is missing."""
    folder = os.path.join(FOLDER, "tasks", f"{model}-{name}-{target}")
    if os.path.isdir(folder):
        return folder
    everything = folder + ".all"
    os.makedirs(everything, exist_ok=True)
    vm_tune(tune_models.make_model(model), f"--target={target}", f"--write-tasks={everything}", f"--records={FOLDER}/none.db")
    os.makedirs(folder + ".new", exist_ok=True)
    found = 0
    for file_name in os.listdir(everything):
        path = os.path.join(everything, file_name)
        with open(path, encoding="utf-8") as file:
            if f"\nname {name}\n" in file.read(2000):
                shutil.copy(path, folder + ".new")
                found += 1
    shutil.rmtree(everything)
    if found != 1:
        raise SystemExit(f"tune_strategies.py: expected one dispatch {name} in {model}, found {found}: its name has changed")
    os.rename(folder + ".new", folder)
    return folder


def search(tasks, records, *arguments):
    """Makes the records of a search, unless they are there."""
    if os.path.exists(records):
        return
    for suffix in ("", "-wal", "-shm", ".lock"):
        if os.path.exists(records + ".new" + suffix):
            os.remove(records + ".new" + suffix)
    vm_tune(f"--tasks={tasks}", f"--records={records}.new", "--workers=1", *arguments)
    # Moves the contents of SQLite's write-ahead log into the database, so that
    # the file can be renamed.
    database = sqlite3.connect(records + ".new")
    database.execute("PRAGMA journal_mode=DELETE")
    database.close()
    os.rename(records + ".new", records)


def schedules_of_other_target(name):
    """Returns a file with the schedules of the dispatch for DONOR_TARGET, as those of this machine."""
    model, dispatch = DISPATCHES[name][0]
    records = os.path.join(FOLDER, f"{name}-target.db")
    search(task_folder(model, dispatch, DONOR_TARGET), records, f"--trials={DONOR_TRIALS}")
    path = os.path.join(FOLDER, f"{name}-target.schedules")
    vm_tune(f"--records={records}", f"--export={path}")
    tasks = task_folder(model, dispatch)
    with open(os.path.join(tasks, os.listdir(tasks)[0]), encoding="utf-8") as file:
        host = re.search(r"^target (.*)$", file.read(), flags=re.M)[1]
    with open(path, encoding="utf-8") as file:
        text = re.sub(r"^(schedule \S+) \S+", lambda match: f"{match[1]} {host}", file.read(), flags=re.M)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def run(name, variant, seed, trials):
    records = os.path.join(FOLDER, f"{name}-{variant}-{seed}-{trials}.db")
    if os.path.exists(records):
        return
    arguments = [f"--seed={seed}", f"--trials={trials}", "--strategy=" + (variant if variant in STRATEGIES else "draft")]
    if variant == "draft-untrained":
        arguments.append("--model=analytic")
    elif variant == "draft-shapes":
        model, dispatch = DISPATCHES[name][1]
        donor = os.path.join(FOLDER, f"{name}-shapes.db")
        search(task_folder(model, dispatch), donor, f"--trials={DONOR_TRIALS}")
        arguments.append(f"--merge={donor}")
    elif variant == "draft-target":
        arguments.append("--import=" + schedules_of_other_target(name))
    search(task_folder(*DISPATCHES[name][0]), records, *arguments)


def curve(name, variant, seed, trials):
    """Returns (the best ratio after each trial, the ratio of the best schedule that was verified)."""
    path = os.path.join(FOLDER, f"{name}-{variant}-{seed}-{trials}.db")
    if not os.path.exists(path):
        return None
    tasks = task_folder(*DISPATCHES[name][0])
    with open(os.path.join(tasks, os.listdir(tasks)[0]), encoding="utf-8") as file:
        key = re.search(r"^key (.*)$", file.read(), flags=re.M)[1]
    database = sqlite3.connect(path)
    rows = database.execute("SELECT outcome, ratio FROM trials JOIN tasks ON tasks.id = trials.task WHERE key = ? ORDER BY trials.id", (key,)).fetchall()
    best = database.execute("SELECT ratio FROM best JOIN tasks ON tasks.id = best.task WHERE key = ?", (key,)).fetchone()
    database.close()
    ratios, least = [], 1.0
    for outcome, ratio in rows:
        least = min(least, ratio) if outcome == 0 else least
        ratios.append(least)
    return ratios, best[0] if best else 1.0


def at(ratios, trials):
    return ratios[min(trials, len(ratios)) - 1] if ratios else 1.0


def report(names, variants, seeds, trials):
    missing = 0
    summary = {variant: [] for variant in variants}
    for name in names:
        curves = {variant: [c for c in (curve(name, variant, seed, trials) for seed in seeds) if c] for variant in variants}
        missing += sum(len(seeds) - len(c) for c in curves.values())
        known = [best for of_variant in curves.values() for _, best in of_variant]
        if not known:
            continue
        final = min(known)
        marks = [mark for mark in MARKS if mark <= trials]
        print(f"\n{name}: {DISPATCHES[name][0][1]} of {DISPATCHES[name][0][0]}; the best verified ratio is {final:.3f}")
        print(f"{'':16} {'runs':>4} " + " ".join(f"{mark:>6}" for mark in marks) + "  verified  trials to 95%")
        for variant, of_variant in curves.items():
            if not of_variant:
                continue
            cells = " ".join(f"{statistics.median(at(ratios, mark) for ratios, _ in of_variant):6.3f}" for mark in marks)
            reached = [next((i + 1 for i, ratio in enumerate(ratios) if ratio <= final / 0.95), trials) for ratios, _ in of_variant]
            verified = statistics.median(best for _, best in of_variant)
            line = f"{variant:16} {len(of_variant):4} {cells}  {verified:8.3f}  {statistics.median(reached):13.0f}"
            if variant == "random":
                ends = [at(ratios, trials) for ratios, _ in of_variant]
                line += f"   ({min(ends):.3f} to {max(ends):.3f} at the end, {min(reached)} to {max(reached)} trials)"
            print(line)
            summary[variant].append(statistics.median(reached))
    print("\nmean over the dispatches of the trials to 95% of the final best")
    for variant, reached in summary.items():
        if reached:
            print(f"{variant:16} {statistics.mean(reached):6.0f}  ({len(reached)} dispatches)")
    if missing:
        print(f"{missing} runs are missing")
    return 1 if missing else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=256)
    parser.add_argument("--seeds", default="1,2,3")
    parser.add_argument("--dispatches", default=",".join(DISPATCHES))
    parser.add_argument("--variants", default=",".join(VARIANTS))
    parser.add_argument("--print", action="store_true", dest="prints", help="prints the tables of the runs that are there, and stops")
    options = parser.parse_args()
    os.makedirs(FOLDER, exist_ok=True)
    names, variants = options.dispatches.split(","), options.variants.split(",")
    seeds = [int(seed) for seed in options.seeds.split(",")]
    for seed in [] if options.prints else seeds:
        for name in names:
            for variant in variants:
                run(name, variant, seed, options.trials)
                print(f"{name} {variant} seed {seed}: done", file=sys.stderr, flush=True)
    return report(names, variants, seeds, options.trials)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except subprocess.CalledProcessError as error:
        sys.exit(f"tune_strategies.py: {error}")
