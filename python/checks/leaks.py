"""Makes and drops calls, sessions, modules, threads and processes, many of each, and prints what remains.

    PYTHONPATH=STAGED_PACKAGE:python/tests python3 python/checks/leaks.py [--count=100000] [--seed=N]

`./dev python leaks` builds the package and calls it. A tenth of each work runs before its memory is measured. The exit
status is 1 if a work leaves more than 4 MiB, a thread or an open file, or if Ctrl-C takes longer than two seconds. The
last table has the times of a call with four numbers, which is what a call costs beside the computation.
"""

from __future__ import annotations

import argparse
import gc
import os
import random
import resource
import signal
import sys
import tempfile
import threading
import time
from typing import Any, Callable

import ember
import numpy as np
import sample_models

MOST_BYTES = 4 << 20
MOST_SECONDS = 2.0
SIZE = 1200


def resident_bytes() -> int:
    """Returns the bytes of this process that are in memory."""
    gc.collect()
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


def counts() -> tuple[int, int]:
    """Returns the numbers of threads and of open files of this process."""
    return len(os.listdir("/proc/self/task")), len(os.listdir("/proc/self/fd"))


class Report:
    """Prints a line for each work, and remembers if one of them left something."""

    def __init__(self) -> None:
        self.failures = 0
        print(f"{'work':<44} {'count':>8} {'seconds':>8} {'KiB left':>9}  threads, files left", flush=True)

    def measure(self, name: str, count: int, work: Callable[[], Any]) -> None:
        """Runs `work` so many times, after a tenth of that, and prints what is left."""
        for _ in range(max(1, count // 10)):
            work()
        before, counts_before, start = resident_bytes(), counts(), time.monotonic()
        for _ in range(count):
            work()
        seconds = time.monotonic() - start
        left, counts_after = resident_bytes() - before, counts()
        more = tuple(a - b for a, b in zip(counts_after, counts_before))
        is_good = left < MOST_BYTES and max(more) <= 0
        self.failures += not is_good
        mark = "" if is_good else "  FAILED"
        print(f"{name:<44} {count:>8} {seconds:>8.1f} {left / 1024:>9.0f}  {more[0]}, {more[1]}{mark}", flush=True)


def quick(model: bytes, **options: Any) -> ember.Session:
    """Returns a session without kernels, which is the one that is made fastest."""
    return ember.Session(ember.compile(model), tier="interpreter", threads=1, **options)


def check_memory(report: Report, count: int) -> None:
    """Measures calls, sessions, modules, compilations and failures."""
    session = quick(sample_models.DOUBLE)
    module = session.module
    x = np.ones((100, 3), np.float32)
    small = np.ones((1, 3), np.float32)
    with tempfile.TemporaryDirectory() as folder:
        module.save(f"{folder}/double.vmfb")
        with open(f"{folder}/double.vmfb", "rb") as file:
            saved = file.read()

    def fail() -> None:
        try:
            session(np.ones((2, 4), np.float32))
        except ember.InvalidArgument:
            return
        raise AssertionError("a wrong shape was accepted")

    def fail_to_compile() -> None:
        try:
            ember.compile(sample_models.WRONG)
        except ember.CompileError:
            return
        raise AssertionError("a wrong model was accepted")

    report.measure("calls", count, lambda: session(x))
    report.measure("calls that are refused", count, fail)
    report.measure("bindings", count, lambda: session.bind([small], [np.empty((1, 3), np.float32)])())
    report.measure("sessions, with a run", count, lambda: module.session(tier="interpreter", threads=1)(small))
    report.measure("sessions with two threads", count // 10, lambda: module.session(tier="interpreter", threads=2)(small))
    report.measure("modules from bytes, with a session and a run", count, lambda: ember.load(saved)(small))
    report.measure("compilations, with a session and a run", count, lambda: quick(sample_models.DOUBLE)(small))
    report.measure("compilations that fail", count, fail_to_compile)


def check_threads(report: Report, count: int) -> None:
    """Measures threads that run one session, and threads that make their own."""
    session = quick(sample_models.DOUBLE)
    small = np.ones((1, 3), np.float32)
    errors: list[BaseException] = []

    def in_threads(work: Callable[[], Any]) -> Callable[[], None]:
        def guarded() -> None:
            try:
                work()
            except BaseException as error:  # Any error is kept for the main thread, which reports it.
                errors.append(error)

        def run() -> None:
            threads = [threading.Thread(target=guarded) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()

        return run

    report.measure("four threads, one session", count // 20, in_threads(lambda: session(small)))
    report.measure(
        "four threads, a session each",
        count // 20,
        in_threads(lambda: session.module.session(tier="interpreter", threads=1)(small)),
    )
    report.failures += len(errors)
    for error in errors[:3]:
        print(f"FAILED in a thread: {error!r}")


def check_forks(report: Report, count: int) -> None:
    """Measures child processes that run the parent's session and compile a model."""
    session = quick(sample_models.DOUBLE)
    x = [[1, 2, 3]]
    session(x)
    statuses: list[int] = []

    def fork() -> None:
        child = os.fork()
        if child == 0:
            ok = (session(x) == [[2, 4, 6]]).all() and (quick(sample_models.DOUBLE)(x) == [[2, 4, 6]]).all()
            os._exit(0 if ok else 1)
        statuses.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))

    report.measure("forks, with a run and a compilation", count // 100, fork)
    bad = sum(status != 0 for status in statuses)
    report.failures += bad
    print(f"{len(statuses)} child processes, of which {bad} failed")


def interrupt(seconds: float, work: Callable[[], Any]) -> float | None:
    """Sends SIGINT after a time, and returns how long `work` continued; None: there was no KeyboardInterrupt."""
    sent: list[float] = []

    def send() -> None:
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(seconds, send)
    timer.start()
    try:
        work()
        time.sleep(5)
    except KeyboardInterrupt:
        return time.monotonic() - sent[0]
    finally:
        timer.join()
    return None


def check_interrupts(report: Report, moments: random.Random) -> None:
    """Presses Ctrl-C at ten random moments of runs, and at ten of compilations."""
    slow = quick(sample_models.slow(SIZE))
    tiered = ember.Session(ember.compile(sample_models.slow(SIZE, 48)), tier="optimized", threads=2)
    x = np.zeros((SIZE, SIZE), np.float32)
    long = sample_models.slow(8, 4000)
    start = time.monotonic()
    ember.compile(long)
    whole = time.monotonic() - start
    start = time.monotonic()
    tiered(x)
    run = time.monotonic() - start
    works: list[tuple[str, float, Callable[[], Any]]] = [
        ("a run of the interpreter", 0.5, lambda: slow(x)),
        ("a run of kernels, in two threads", run * 0.9, lambda: tiered(x)),
        ("a compilation", whole * 0.9, lambda: ember.compile(long)),
    ]
    for name, most, work in works:
        lines = []
        for _ in range(10):
            moment = moments.uniform(0.001, most)
            waited = interrupt(moment, work)
            is_good = waited is not None and waited < MOST_SECONDS
            report.failures += not is_good
            lines.append(f"{moment:.3f}: {'none' if waited is None else f'{1000 * waited:.0f} ms'}")
        print(f"Ctrl-C in {name}, after seconds: {', '.join(lines)}")
    if not (quick(sample_models.DOUBLE)([[1, 2, 3]]) == [[2, 4, 6]]).all():
        report.failures += 1
        print("FAILED: a run after the interrupts")


def print_overhead() -> None:
    """Prints the least of 50 means over 2,000 calls, for each kind of call: short rounds, as the machine may be busy."""
    session = quick(sample_models.negate("f32", 4))
    x, y = np.ones(4, np.float32), np.empty(4, np.float32)
    run = session.bind([x], [y])
    kinds: list[tuple[str, Callable[[], Any]]] = [
        ("run() of run = session.bind([x], [y])", run),
        ("session(x, out=y)", lambda: session(x, out=y)),
        ("session(x)", lambda: session(x)),
        ('session.run({"x": x})', lambda: session.run({"x": x})),
    ]
    print(f"{'a call with 4 f32, tier 0, one thread':<44} {'microseconds':>12}")
    for name, call in kinds:
        least = float("inf")
        for _ in range(50):
            start = time.perf_counter()
            for _ in range(2000):
                call()
            least = min(least, (time.perf_counter() - start) / 2000)
        print(f"{name:<44} {least * 1e6:>12.2f}")
    address = y.ctypes.data
    result = session(x, out=y)
    print(f"the result is the array that was given: {result is y and result.ctypes.data == address}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--count", type=int, default=100_000, help="Makes this many calls, sessions and modules.")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="Draws the moments of Ctrl-C from it.")
    options = parser.parse_args()
    print(f"seed {options.seed}; again: leaks.py --count={options.count} --seed={options.seed}")
    report = Report()
    check_memory(report, options.count)
    check_threads(report, options.count)
    check_forks(report, options.count)
    check_interrupts(report, random.Random(options.seed))
    print_overhead()
    print("nothing left" if report.failures == 0 else f"{report.failures} findings")
    return 0 if report.failures == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
