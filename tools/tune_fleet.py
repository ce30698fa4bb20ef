#!/usr/bin/env python3
"""Tunes one model by a local worker process, by workers over NATS and by a job array of Slurm, and compares them. `./dev tune-fleet` calls it.

usage: tune_fleet.py MODEL [--trials 64] [--seed 1] [--workers 2] [--kinds local,nats,slurm,namespaces] [--kill]

Each kind starts with empty records and the same seed. A row has the number of trials, trials per minute, the share of the
default's time that the search reports, and what its schedules measure in the end: all modules and the default one take turns to
run, one call each, and "again" is the median of a call's time divided by the default's in the same round.

--kill ends one worker with kill -9 every few seconds, and starts another one; --kinds=namespaces runs each worker in a network
namespace of its own, from which it reaches the server through a veth pair (as root). A kind whose programs are not installed is
left out with a line.

Environment: EMBER_BIN, the folder of the tools (bazel-bin/tools). Exit status 0: all kinds ended with all of their trials.
"""

import argparse
import json
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

import fleet_servers
import turns

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BIN = os.environ.get("EMBER_BIN", os.path.join(ROOT, "bazel-bin/tools"))
TUNE = os.path.join(BIN, "vm-tune")
LAST_LINE = re.compile(r"all dispatches: ([0-9.]+) of the default's time, (\d+) trials in (\d+) s, (\d+) of them")


class Workers:
    """Workers of a queue. With `kills`, one of them is killed every few seconds, and replaced."""

    def __init__(self, folder, count, address, kills=False, prefixes=None):
        self.command = [TUNE, "worker", f"--connect={address}", "--workers=1"]
        self.prefixes = prefixes or [[]] * count
        self.log = open(os.path.join(folder, "workers.log"), "ab")
        self.processes = [self.start(i) for i in range(count)]
        self.killed = 0
        self.ends = threading.Event()
        self.killer = threading.Thread(target=self.kill) if kills else None
        if self.killer:
            self.killer.start()

    def start(self, i):
        return subprocess.Popen(self.prefixes[i] + self.command, stderr=self.log, stdin=subprocess.DEVNULL)

    def kill(self):
        while not self.ends.wait(7):
            i = self.killed % len(self.processes)
            self.processes[i].kill()
            self.processes[i].wait()
            self.killed += 1
            self.processes[i] = self.start(i)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.ends.set()
        if self.killer:
            self.killer.join()
        for process in self.processes:
            process.send_signal(signal.SIGTERM)
        for process in self.processes:
            process.wait()
        self.log.close()


class Namespaces:
    """Network namespaces, each with one link to this one. The k-th has the address 10.213.k.2, and reaches 10.213.k.1."""

    def __init__(self, count):
        self.names = [f"ember{os.getpid()}n{k}" for k in range(count)]
        for k, name in enumerate(self.names):
            link = f"veth{os.getpid() % 10000}k{k}"
            for command in (f"ip netns add {name}", f"ip link add {link} type veth peer name eth0 netns {name}",
                            f"ip addr add 10.213.{k}.1/24 dev {link}", f"ip link set {link} up",
                            f"ip -n {name} addr add 10.213.{k}.2/24 dev eth0", f"ip -n {name} link set eth0 up"):
                subprocess.run(command.split(), check=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for name in self.names:
            subprocess.run(["ip", "netns", "del", name], check=False)


def tune(options, folder, name, arguments, environment=None):
    """Returns the row of a search, and writes the module FOLDER/NAME.vmfb with its schedules."""
    records = os.path.join(folder, name + ".db")
    command = [TUNE, options.model, f"--trials={options.trials}", f"--seed={options.seed}", f"--records={records}", "--batch=8", *arguments]
    start = time.monotonic()
    run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=folder, env=environment, check=False)
    seconds = time.monotonic() - start
    with open(os.path.join(folder, name + ".log"), "w", encoding="utf-8") as file:
        file.write(run.stdout)
    match = LAST_LINE.search(run.stdout)
    if run.returncode != 0 or not match:
        raise SystemExit(f"tune_fleet.py: {name}: {run.stdout[-2000:]}")
    module = os.path.join(folder, name + ".vmfb")
    subprocess.run([os.path.join(BIN, "vm-prejit"), options.model, f"--tuning-records={records}", "-o", module], check=True,
                   stdout=subprocess.DEVNULL)
    return {"kind": name, "ratio": float(match[1]), "trials": int(match[2]), "bad": int(match[4]), "seconds": seconds, "module": module}


def run_kind(options, folder, kind):
    if kind == "local":
        return tune(options, folder, kind, ["--workers=1"])
    if kind == "slurm":
        with fleet_servers.Slurm(folder) as slurm:
            return tune(options, folder, kind, [f"--workers=slurm:{options.workers}", "--sbatch=--cpus-per-task=1"], slurm.environment)
    if kind == "folder":
        address = "folder:" + os.path.join(folder, "queue") + ",lease=10"
        with Workers(folder, options.workers, address, options.kill) as workers:
            row = tune(options, folder, kind, ["--workers=" + address])
            return dict(row, killed=workers.killed)
    if kind == "nats":
        with fleet_servers.NatsServer(folder) as server, Workers(folder, options.workers, server.url, options.kill) as workers:
            row = tune(options, folder, kind, ["--workers=" + server.url])
            return dict(row, killed=workers.killed)
    with Namespaces(options.workers) as spaces, fleet_servers.NatsServer(folder, "0.0.0.0") as server:
        port = server.url.rsplit(":", 1)[1]
        prefixes = [["ip", "netns", "exec", name] for name in spaces.names]
        address = "nats://10.213.{}.1:" + port
        workers = [Workers(folder, 1, address.format(k), options.kill, [prefix]) for k, prefix in enumerate(prefixes)]
        try:
            row = tune(options, folder, kind, [f"--workers=nats://127.0.0.1:{port}"])
        finally:
            for one in workers:
                one.__exit__()
        return dict(row, killed=sum(one.killed for one in workers))


def missing(kind):
    """Returns what the kind needs and this machine lacks; empty if it can run."""
    needs = {"nats": ["nats-server"], "slurm": ["munged", "slurmctld", "slurmd", "sbatch"], "namespaces": ["nats-server", "ip"]}.get(kind, [])
    lacks = [program for program in needs if not fleet_servers.has(program)]
    if "nats-server" in needs and not os.path.exists(os.path.join(BIN, "lib/tuning/nats/libember_nats.so")):
        lacks.append("libember_nats.so")
    if kind in ("slurm", "namespaces") and os.geteuid() != 0:
        lacks.append("root")
    return ", ".join(lacks)


def again(modules, seconds):
    """Returns the median ratio of each module's call to the first one's in the same round."""
    calls = []
    with tempfile.TemporaryDirectory() as folder:
        lives = [os.path.join(folder, f"{i}.json") for i in range(len(modules))]
        turns.run([[os.path.join(BIN, "vm-bench"), module, "--tier=2", "--threads=1", "--warmup=3", f"--seconds={seconds * len(modules)}",
                    "--runs=1000000", "--no-kernel-cache", f"--life={life}"] for module, life in zip(modules, lives)])
        for path in lives:
            with open(path, encoding="utf-8") as file:
                life = json.load(file)[0]
            calls.append(life["calls_ms"][life["warmup_calls"]:])
    rounds = min(len(one) for one in calls)
    return [statistics.median(one[i] / calls[0][i] for i in range(rounds)) for one in calls]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("--trials", type=int, default=64)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--kinds", default="local,nats,slurm")
    parser.add_argument("--kill", action="store_true")
    parser.add_argument("--seconds", type=float, default=5, help="the last comparison takes so many seconds of each module; 0: none")
    parser.add_argument("--keep", default="", help="keeps records and logs in this folder")
    options = parser.parse_args()
    options.model = os.path.abspath(options.model)
    rows = []
    with tempfile.TemporaryDirectory(prefix="fleet") as temporary:
        top = os.path.abspath(options.keep) if options.keep else temporary
        for kind in options.kinds.split(","):
            lacks = missing(kind)
            if lacks:
                print(f"{kind}: left out, because this machine lacks {lacks}", flush=True)
                continue
            folder = os.path.join(top, kind)
            os.makedirs(folder)
            row = run_kind(options, folder, kind)
            rows.append(row)
            print(f"{kind}: {row['trials']} trials, {60 * row['trials'] / row['seconds']:.0f} per minute, {row['ratio']:.3f} of the "
                  f"default's time, {row['bad']} crashed, hung or wrong, {row.get('killed', 0)} workers killed", flush=True)
        if rows and options.seconds > 0:
            ratios = again([options.model] + [row["module"] for row in rows], options.seconds)
            for row, ratio in zip(rows, ratios[1:]):
                print(f"{row['kind']}: again {ratio:.3f} of the default's time", flush=True)
    return 0 if all(row["trials"] == options.trials for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
