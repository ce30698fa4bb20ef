#!/usr/bin/env python3
"""Measures which threads the threads of a session waited for while kernels were compiled: the compiler's, or those of other programs.

Runs the life of a process (vm-bench --life, --tier=auto, no kernel cache) under `perf sched` events of the whole machine
(needs perf, and root or kernel.perf_event_paranoid = -1) and adds up, for the thread that calls and those of its pool, how
long each was ready to run while another thread had its core. A row per group of such threads, over all lives:

  total ms     sum of all waits
  largest      the longest time that one wait lasted for them, as a multiple of the interpreter's median call
  waits > 0.1  how many waits lasted for more than 0.1 of that call, and for more than 0.3; and the number of calls

Time that a hypervisor takes, and changes of clock rates, do not show here: they are in life_of_run.py's latencies.
Environment: EMBER_BIN, as for compare_ort.py.
"""

import argparse
import collections
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile

import compare_ort

EVENTS = ["sched_switch", "sched_wakeup", "sched_wakeup_new", "sched_migrate_task"]
LINE = re.compile(r"^\s*(\d+)\s+\[(\d+)\]\s+(\d+\.\d+):\s+sched:(\w+): (.*)$")
SWITCH = re.compile(r"prev_comm=.* prev_pid=(\d+) prev_prio=\d+ prev_state=(\S+) ==> next_comm=(.*) next_pid=(\d+)")
WAKEUP = re.compile(r"comm=.* pid=(\d+) .*target_cpu=(\d+)")
MIGRATION = re.compile(r"comm=.* pid=(\d+) .*dest_cpu=(\d+)")
COMPILER, HELPER, OWN, OTHERS = "the compiler", "its helper", "each other", "other programs"
GROUP_OF_NAME = {"ember-compile": COMPILER, "ember-helper": HELPER, "ember-pool": OWN}


class Waits:
    """Tracks which thread has each core, and which threads are ready to run on it."""

    def __init__(self, program):
        self.program = program  # name of the thread that calls the model
        # For each core, what runs on it: (thread, time in seconds up to which its run was
        # accounted for, group of the thread).
        self.running = {}
        # The threads of self.session that are waiting for a core. For each: the core, and a
        # counter {group: seconds} of how long threads of each group have run on that core since
        # the wait began.
        self.ready = {}
        # The threads of the vm::Session that is measured: the thread that calls the model, and the
        # threads of the pool.
        self.session = set()
        # One entry {group: seconds} for each finished wait of a thread of the session: how long
        # threads of each group ran on the core during the wait.
        self.waits = []

    def group(self, thread, name):
        if name in (self.program, "ember-pool"):
            self.session.add(thread)
        # A new thread has its creator's name until it sets its own. So it may have been taken for a
        # thread of the session, which is undone here.
        else:
            self.session.discard(thread)
        return OWN if name == self.program else GROUP_OF_NAME.get(name, OTHERS)

    def account(self, core, time):
        if core not in self.running:
            return
        thread, since, group = self.running[core]
        for ready_core, waited in self.ready.values():
            if ready_core == core and thread != 0:
                waited[group] += time - since
        self.running[core] = (thread, time, group)

    def switch(self, core, time, previous, state, name, following):
        self.account(core, time)
        if previous in self.session and state.startswith("R"):
            self.ready[previous] = [core, collections.Counter()]
        self.running[core] = (following, time, self.group(following, name))
        if following in self.ready:
            self.waits.append(self.ready.pop(following)[1])

    def wake(self, core, time, thread):
        self.account(core, time)
        if thread in self.session and all(thread != running[0] for running in self.running.values()):
            self.ready[thread] = [core, collections.Counter()]

    def migrate(self, core, time, thread):
        if thread not in self.ready:
            return
        self.account(self.ready[thread][0], time)
        self.account(core, time)
        self.ready[thread][0] = core


def waits_of_life(module, options, folder):
    """Returns the waits and the number of calls."""
    life, data = os.path.join(folder, "life.json"), os.path.join(folder, "perf.data")
    program = os.path.join(compare_ort.BIN, "vm-bench")
    events = [option for event in EVENTS for option in ("-e", f"sched:{event}")]
    recorded = subprocess.run(
        ["perf", "record", "-q", "-a", "-k", "CLOCK_MONOTONIC", "-o", data] + events +
        ["--", program, module, "--tier=auto", f"--threads={options.threads}", "--runs=1", "--seconds=0",
         f"--settle={options.settle}", "--no-kernel-cache", f"--life={life}"],
        stdout=subprocess.DEVNULL, check=False)
    if recorded.returncode != 0:
        sys.exit(f"waits_by_thread.py: perf record: exit status {recorded.returncode} (it needs root)")
    waits = Waits(os.path.basename(program)[:15])
    script = subprocess.Popen(["perf", "script", "-i", data, "-F", "tid,cpu,time,event,trace"], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True)
    for line in script.stdout:
        match = LINE.match(line)
        if not match:
            continue
        core, time, event, rest = int(match[2]), float(match[3]), match[4], match[5]
        if event == "sched_switch" and (found := SWITCH.search(rest)):
            waits.switch(core, time, int(found[1]), found[2], found[3], int(found[4]))
        elif event.startswith("sched_wakeup") and (found := WAKEUP.search(rest)):
            waits.wake(int(found[2]), time, int(found[1]))
        elif event == "sched_migrate_task" and (found := MIGRATION.search(rest)):
            waits.migrate(int(found[2]), time, int(found[1]))
    if script.wait() != 0:
        sys.exit(f"waits_by_thread.py: perf script: exit status {script.returncode}")
    with open(life, encoding="utf-8") as file:
        return waits.waits, json.load(file)[0]["warmup_calls"]


def median_interpreted(module, options, folder):
    life = os.path.join(folder, "tier0.json")
    compare_ort.output_of([os.path.join(compare_ort.BIN, "vm-bench"), module, "--tier=0", f"--threads={options.threads}",
                           "--runs=50", "--seconds=0", "--settle=0", f"--life={life}"])
    with open(life, encoding="utf-8") as file:
        return statistics.median(json.load(file)[0]["calls_ms"][1:]) / 1e3


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+")
    parser.add_argument("--lives", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--settle", type=float, default=30)
    options = parser.parse_args()
    print("| model | waited for | total ms | largest | waits > 0.1 | > 0.3 | calls |")
    print("|-------|------------|----------|---------|-------------|-------|-------|")
    for model in options.models:
        with tempfile.TemporaryDirectory() as folder:
            module = os.path.join(folder, "model.vmfb")
            compare_ort.output_of([os.path.join(compare_ort.BIN, "vm-compile"), model, "-o", module])
            waits, calls, multiples = [], 0, []
            for _ in range(options.lives):
                median = median_interpreted(module, options, folder)
                of_life, calls_of_life = waits_of_life(module, options, folder)
                waits += of_life
                multiples += [median] * len(of_life)
                calls += calls_of_life
            for group in (COMPILER, HELPER, OWN, OTHERS):
                times = [(wait[group], wait[group] / median) for wait, median in zip(waits, multiples)]
                print(f"| {os.path.basename(model)} | {group} | {1e3 * sum(time for time, _ in times):.1f} "
                      f"| {max((multiple for _, multiple in times), default=0):.2f}x "
                      f"| {sum(multiple > 0.1 for _, multiple in times)} "
                      f"| {sum(multiple > 0.3 for _, multiple in times)} | {calls} |")


if __name__ == "__main__":
    main()
