#!/usr/bin/env python3
"""Interrupts a command at random moments, and checks that nothing half written and no process is left.

    interrupt_tools.py [--moments=10] [--seed=1] [--signal=INT|TERM|KILL] OUTPUT -- COMMAND [ARG...]
    interrupt_tools.py g.vmfb -- vm-compile gpt2.onnx -o g.vmfb

The command must write the file OUTPUT. It first runs once without an interruption, which gives its duration and the bytes of a
complete OUTPUT. Then it runs once for each moment, which is drawn from that duration with the seed, in a folder of its own in
which OUTPUT already has other contents. After the signal

- the command has ended by that signal, or had written the whole output before;
- OUTPUT has its old contents, or the complete new ones;
- no other file is in the folder (after KILL, which no program can handle, the next complete run must delete it);
- no process that the command started is alive.

Prints a line for each moment, and exits with 1 if one of them fails. `./dev interrupt` runs it on vm-compile and vm-prejit with big
models.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from dataclasses import dataclass
from pathlib import Path

import children

# The contents of the output file before the command runs, to detect whether it
# was replaced.
_OLD = b"the old contents"
# This environment variable marks the command and all its child processes, so that they are found even if they are in a
# session of their own.
_MARK = "EMBER_INTERRUPTED_COMMAND"
# Number of seconds after the command's end for which its child processes may
# still run.
_GRACE = 5


@dataclass
class Result:
    moment: float  # seconds from the command's start to the signal
    seconds: float  # seconds from the signal to the end of the command
    status: int  # as subprocess.Popen.returncode
    problems: list[str]


def processes_with(mark: str) -> list[int]:
    """Returns the processes whose environment has the mark, except for zombies, which have none."""
    found = []
    wanted = ("%s=%s" % (_MARK, mark)).encode()
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            if wanted in (folder / "environ").read_bytes().split(b"\0"):
                found.append(int(folder.name))
        except (FileNotFoundError, PermissionError, ProcessLookupError):
            continue
    return found


def _prepare() -> None:
    children.end_with_parent()
    # A shell starts background programs with SIGINT ignored, and programs inherit that. So
    # the default actions are restored here.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)


def _start(command: list[str], folder: str, mark: str, stderr: int = subprocess.DEVNULL) -> subprocess.Popen:
    return subprocess.Popen(
        command,
        cwd=folder,
        env={**os.environ, _MARK: mark},
        stdout=subprocess.DEVNULL,
        stderr=stderr,
        preexec_fn=_prepare,
    )


def complete(command: list[str], output: str) -> tuple[float, bytes]:
    """Runs the command without an interruption. Returns its duration in seconds, and the output."""
    with tempfile.TemporaryDirectory() as folder:
        begin = time.monotonic()
        process = _start(command, folder, "complete", subprocess.PIPE)
        errors = process.communicate()[1]
        if process.returncode != 0:
            raise RuntimeError("expected %s to succeed, found: %s" % (command[0], errors.decode().strip()))
        seconds = time.monotonic() - begin
        return seconds, Path(folder, output).read_bytes()


def interrupt(command: list[str], output: str, moment: float, number: signal.Signals, whole: bytes) -> Result:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, output)
        path.write_bytes(_OLD)
        mark = uuid.uuid4().hex
        process = _start(command, folder, mark)
        try:
            process.wait(moment)
        except subprocess.TimeoutExpired:
            process.send_signal(number)
        sent = time.monotonic()
        process.wait()
        seconds = time.monotonic() - sent
        problems = []
        if process.returncode not in (0, -number):
            problems.append("exit status %d" % process.returncode)
        found = path.read_bytes()
        if found != (whole if process.returncode == 0 else _OLD) and found != whole:
            problems.append("%s has %d bytes that are neither the old nor the new ones" % (output, len(found)))
        others = sorted(name for name in os.listdir(folder) if name != output)
        if number == signal.SIGKILL and others:
            # After SIGKILL the command cannot clean up. The next run that writes
            # this output deletes the leftover files.
            _start(command, folder, mark).wait()
            others = sorted(name for name in os.listdir(folder) if name != output)
        if others:
            problems.append("left " + ", ".join(others))
        deadline = time.monotonic() + _GRACE
        while (alive := processes_with(mark)) and time.monotonic() < deadline:
            time.sleep(0.01)
        if alive:
            problems.append("processes %s are alive" % alive)
        return Result(moment, seconds, process.returncode, problems)


def run(command: list[str], output: str, moments: int, seed: int, number: signal.Signals) -> list[Result]:
    """Interrupts the command at `moments` moments, one in each of as many equal parts of its duration."""
    seconds, whole = complete(command, output)
    print("%s: %.2f s, %d bytes without an interruption" % (os.path.basename(command[0]), seconds, len(whole)))
    draw = random.Random(seed)
    results = []
    for part in range(moments):
        moment = (part + draw.random()) * seconds / moments
        result = interrupt(command, output, moment, number, whole)
        end = "complete before" if result.status == 0 else "ended %.3f s after %s" % (result.seconds, number.name)
        print("  %7.3f s: %s; %s" % (moment, end, "; ".join(result.problems) or "nothing left"))
        results.append(result)
    return results


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--moments", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--signal", choices=["INT", "TERM", "KILL"], default="INT")
    parser.add_argument("output", metavar="OUTPUT")
    parser.add_argument("command", metavar="COMMAND", nargs="+")
    options = parser.parse_args()
    number = signal.Signals["SIG" + options.signal]
    print("seed %d, %s" % (options.seed, number.name))
    results = run(options.command, options.output, options.moments, options.seed, number)
    failed = sum(bool(result.problems) for result in results)
    print("%d of %d moments failed" % (failed, len(results)))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
