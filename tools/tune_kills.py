#!/usr/bin/env python3
"""Kills vm-tune and its workers at random points, and checks that no record is lost and that tuning continues. `./dev tune-kills` calls it.

usage: tune_kills.py MODEL [--count 100] [--seed 1] [--rounds-per-file 20]

Each round starts vm-tune on the records of the round before, with two processes on this machine or with two `vm-tune worker` on a
shared folder, waits for a random time and ends one process with kill -9: the tuner, a process that runs trials, or a worker of
the folder. After a worker's death the tuner must record further trials and end normally. After each round

  - the records are intact (PRAGMA integrity_check, and every trial belongs to a task);
  - no trial that was recorded before is missing;
  - every dispatch that had a schedule that is faster than the default has one.

At the end vm-tune runs undisturbed on the records and must end normally, and no worker may be left. Environment: EMBER_BIN, the
folder of the tools (bazel-bin/tools). Exit status 0: all of this held.
"""

import argparse
import collections
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TUNE = os.path.join(os.environ.get("EMBER_BIN", os.path.join(ROOT, "bazel-bin/tools")), "vm-tune")
# Number of seconds within which the tuner must record a further trial after one
# of its workers was killed.
PATIENCE = 90


class Failure(Exception):
    pass


def expect(condition, text):
    if not condition:
        raise Failure(text)


class Records:
    """What a file of records has: trials by task and schedule, the best ratio by task."""

    def __init__(self, path):
        self.trials, self.best = set(), {}
        if not os.path.exists(path):
            return
        database = sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=20)
        try:
            tables = {row[0] for row in database.execute("SELECT name FROM sqlite_master")}
            if not {"tasks", "trials", "best"} <= tables:
                return  # vm-tune was killed before it created the tables
            checked = database.execute("PRAGMA integrity_check").fetchall()
            expect(checked == [("ok",)], f"{path}: integrity_check: {checked[:3]}")
            self.trials = set(database.execute(
                "SELECT tasks.key || tasks.target, schedule FROM trials LEFT JOIN tasks ON tasks.id = trials.task"))
            expect(all(key for key, _ in self.trials), f"{path}: a trial without a task")
            self.best = dict(database.execute("SELECT tasks.key || tasks.target, ratio FROM best JOIN tasks ON tasks.id = best.task"))
        finally:
            database.close()

    def check_after(self, before, path):
        missing = before.trials - self.trials
        expect(not missing, f"{path}: {len(missing)} trials are missing")
        for key, ratio in before.best.items():
            # Each search measures the best schedule again, so its ratio may have
            # changed.
            expect(self.best.get(key, 1) < 1, f"{path}: the best schedule of {key} was {ratio}, is {self.best.get(key)}")


def children(pid):
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
            return [int(word) for word in file.read().split()]
    except OSError:
        return []


def end(process, sig):
    if process.poll() is None:
        process.send_signal(sig)
    try:
        return process.wait(60)
    except subprocess.TimeoutExpired:
        process.kill()
        raise Failure(f"process {process.pid} did not end in 60 s after signal {sig}") from None


class Fleet:
    def __init__(self, folder):
        self.address = f"folder:{folder},lease=3"
        self.workers = [self.start() for _ in range(2)]

    def start(self):
        return subprocess.Popen([TUNE, "worker", f"--connect={self.address}", "--workers=1"], stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)

    def kill_one(self, rng):
        i = rng.randrange(len(self.workers))
        self.workers[i].kill()
        self.workers[i].wait()
        self.workers[i] = self.start()

    def close(self):
        for worker in self.workers:
            worker.terminate()
        for worker in self.workers:
            end(worker, signal.SIGTERM)


def wait_for_trials(path, count, process, seconds):
    """Waits until the file has more than `count` trials, or the process has ended, or so many seconds. Returns True for the first."""
    stop = time.monotonic() + seconds
    while time.monotonic() < stop and process.poll() is None:
        try:
            if len(Records(path).trials) > count:
                return True
        except sqlite3.OperationalError:
            pass  # the tuner is writing, so the database is locked
        time.sleep(0.1)
    return False


def run_round(options, rng, path, fleet, log):
    """Returns the victim."""
    before = Records(path)
    workers = fleet.address if fleet else "2"
    tuner = subprocess.Popen([TUNE, options.model, f"--records={path}", "--trials=100000", f"--workers={workers}", "--batch=4",
                              f"--seed={rng.randrange(1 << 30)}"], stdout=log, stderr=log, stdin=subprocess.DEVNULL)
    try:
        victim = rng.choice(["tuner", "worker"])
        # A third of the tuners are killed while they are starting.
        if victim == "worker" or rng.random() < 0.67:
            expect(wait_for_trials(path, len(before.trials), tuner, PATIENCE), "no trial was recorded")
        time.sleep(rng.uniform(0, 2))
        expect(tuner.poll() is None, f"vm-tune ended with exit status {tuner.poll()}")
        if victim == "tuner":
            tuner.kill()
            tuner.wait()
        else:
            if fleet:
                fleet.kill_one(rng)
            else:
                running = children(tuner.pid)
                expect(running, "vm-tune has no processes")
                os.kill(rng.choice(running), signal.SIGKILL)
            now = len(Records(path).trials)
            expect(wait_for_trials(path, now, tuner, PATIENCE), "no trial was recorded after a worker was killed")
            status = end(tuner, signal.SIGTERM)
            expect(status == 0, f"vm-tune ended with exit status {status}")
    finally:
        if tuner.poll() is None:
            tuner.kill()
            tuner.wait()
    Records(path).check_after(before, path)
    return ("fleet " if fleet and victim == "worker" else "") + victim


def orphans(path):
    """Returns the processes whose command line has the path."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                if path.encode() in file.read() and int(pid) != os.getpid():
                    found.append(int(pid))
        except OSError:
            pass
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rounds-per-file", type=int, default=20)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    start = time.monotonic()
    killed = collections.Counter()
    trials = 0
    with tempfile.TemporaryDirectory(prefix="tune_kills") as folder, open(os.path.join(folder, "log"), "ab") as log:
        fleet = Fleet(os.path.join(folder, "queue"))
        path = ""
        try:
            for i in range(options.count):
                if i % options.rounds_per_file == 0:
                    path = os.path.join(folder, f"tuning{i}.db")
                victim = run_round(options, rng, path, fleet if rng.random() < 0.4 else None, log)
                killed[victim] += 1
                known = len(Records(path).trials)
                print(f"{i + 1}: killed {victim}; {known} trials", flush=True)
                if (i + 1) % options.rounds_per_file == 0 or i + 1 == options.count:
                    trials += known
            run = subprocess.run([TUNE, options.model, f"--records={path}", "--trials=4", "--workers=1"], stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT, text=True, check=False)
            expect(run.returncode == 0, f"the last search failed: {run.stdout[-1000:]}")
        except Failure as failure:
            log.flush()
            with open(os.path.join(folder, "log"), encoding="utf-8", errors="replace") as file:
                print(file.read()[-2000:])
            print(f"tune_kills.py: {failure}")
            return 1
        finally:
            fleet.close()
        time.sleep(0.5)
        left = orphans(folder)
        if left:
            print(f"tune_kills.py: processes are left: {left}")
            return 1
    kinds = ", ".join(f"{count} of a {kind}" for kind, count in sorted(killed.items()))
    print(f"{options.count} kills ({kinds}) in {time.monotonic() - start:.0f} s: all records were intact, {trials} trials")
    return 0


if __name__ == "__main__":
    sys.exit(main())
