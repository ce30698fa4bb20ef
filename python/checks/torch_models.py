"""Runs ten models by torch.compile and by torch.export, and prints results and times beside eager and inductor.

    python3 python/checks/torch_models.py [--models=NAME,…] [--threads=1] [--rounds=20]

Needs PyTorch 2.6, python3-ember, and a C++ compiler for inductor; `./dev python torch` runs it in a Debian 13 root. The
engines take turns in each round, so that they see the same machine. A time is the least of all rounds. The difference is
the largest one between two elements, divided by the largest element of eager's result. The exit status is 1 if it is
above 1e-4, or if a part of a model stays in eager.
"""

from __future__ import annotations

import argparse
import logging
import os
import sys
import time
import warnings
from typing import Any, Callable

os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")
# Limits OpenBLAS, with which Debian's PyTorch computes products, to one thread. It has its own
# threads, and reads this variable when it is loaded.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import ember  # noqa: E402
import ember.pytorch  # noqa: E402
import torch  # noqa: E402
import torch_zoo  # noqa: E402

MOST_DIFFERENCE = 1e-4


class Lines(logging.Handler):
    """Collects the lines of the backend."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())


def difference(found: Any, wanted: torch.Tensor) -> float:
    """Returns the largest difference, relative to the largest element."""
    if isinstance(found, (list, tuple)):
        found = found[0]
    found = torch.as_tensor(found)
    if found.shape != wanted.shape or found.dtype != wanted.dtype:
        return float("inf")
    return float((found - wanted).abs().max() / wanted.abs().max().clamp_min(1e-30))


def engines(name: str, threads: int) -> dict[str, tuple[float, Callable[[], Any]]]:
    """Returns functions that run the model, with the seconds that making them and the first run took; by engine."""
    model, inputs = torch_zoo.make(name)
    found: dict[str, tuple[float, Callable[[], Any]]] = {}

    def add(engine: str, make: Callable[[], Callable[[], Any]]) -> None:
        start = time.monotonic()
        try:
            run = make()
            run()
        except Exception as error:  # The failure of one engine is printed; the other engines are measured all the same.
            line = " ".join(str(error).split())[:300]
            print(f"FAILED {name}, {engine}: {line}", flush=True)
            return
        found[engine] = (time.monotonic() - start, run)

    def with_backend(backend: str, **options: Any) -> Callable[[], Callable[[], Any]]:
        def make() -> Callable[[], Any]:
            torch._dynamo.reset()
            fast = torch.compile(model, backend=backend, **options)
            return lambda: fast(*inputs)

        return make

    def exported() -> Callable[[], Any]:
        torch._dynamo.reset()
        module = ember.from_torch(torch.export.export(model, inputs))
        session = module.session(tier="optimized", threads=threads)
        arrays = [x.numpy() for x in inputs]
        return lambda: session(*arrays)

    add("eager", lambda: lambda: model(*inputs))
    add("inductor", with_backend("inductor"))
    add("ember, torch.compile", with_backend("ember", options={"threads": threads}))
    add("ember, torch.export", exported)
    return found


def measure(found: dict[str, tuple[float, Callable[[], Any]]], rounds: int) -> dict[str, float]:
    """Returns the least time of a run of each engine, in seconds. The engines take turns."""
    least = dict.fromkeys(found, float("inf"))
    for _ in range(rounds):
        for engine, (_, run) in found.items():
            run()
            start = time.perf_counter()
            run()
            least[engine] = min(least[engine], time.perf_counter() - start)
    return least


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--models", default=",".join(torch_zoo.MODELS), help="Runs only these models.")
    parser.add_argument("--threads", type=int, default=1, help="Computes with so many threads.")
    parser.add_argument("--rounds", type=int, default=20, help="Measures so many runs of each engine.")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.set_num_threads(options.threads)
    lines = Lines()
    logging.getLogger("ember.pytorch").addHandler(lines)
    print(f"PyTorch {torch.__version__}, Ember {ember.__version__}, {options.threads} thread(s)")
    print("| model | engine | first run, s | ms | eager / it | difference |\n| --- | --- | ---: | ---: | ---: | ---: |")
    failures = 0
    with torch.no_grad():
        for name in options.models.split(","):
            found = engines(name, options.threads)
            least = measure(found, options.rounds)
            model, inputs = torch_zoo.make(name)
            wanted = model(*inputs)
            for engine, (first, run) in found.items():
                error = difference(run(), wanted)
                failures += error > MOST_DIFFERENCE
                ratio = least["eager"] / least[engine]
                print(
                    f"| {name} | {engine} | {first:.1f} | {1000 * least[engine]:.3f} | {ratio:.2f} | {error:.1e} |",
                    flush=True,
                )
            failures += 4 - len(found)
    for line in lines.lines:
        print(line)
    failures += len(lines.lines)
    print("all models are right" if failures == 0 else f"{failures} findings")
    return 0 if failures == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
