"""Runs the steps of docs/tutorials/matrix-product.md: checks them, or measures them and writes the page's table.

    python3 python/checks/te_tutorial.py                     # checks each step, and prints the measured table
    python3 python/checks/te_tutorial.py --write             # also writes it to the page

Each step's code is in the page. It makes the schedule `s` of the dispatch `product`.
"""

import argparse
import datetime
import re
import sys
from pathlib import Path

PAGE = Path(__file__).resolve().parent.parent.parent / "docs/tutorials/matrix-product.md"
STEP = re.compile(r"^## (\d+\. [^\n]+)\n.*?^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
TABLE = re.compile(r"(?<=<!-- measured -->\n).*?(?=<!-- end -->)", re.DOTALL)
PRODUCT = "y[i, j] = sum(k) a[i, k] * b[k, j]"


def steps():
    """Returns (title, code) of each step of the page."""
    return STEP.findall(PAGE.read_text(encoding="utf-8"))


def schedules(m, n, k):
    """Yields the title and the schedule of each step, for a product of these sizes."""
    from ember import te

    for title, code in steps():
        names = {"te": te, "product": te.parse(PRODUCT, a=(m, k), b=(k, n))}
        exec(compile(code, f"{PAGE.name}: {title}", "exec"), names)  # noqa: S102
        yield title, names["s"]


def measure(size, seconds):
    """Returns rows of (title, milliseconds, share of the peak), and the peak. Calls of the steps alternate."""
    from ember import te

    titles, made = zip(*schedules(size, size, size))
    kernels = [s.compile() for s in made]
    peak = te.peak(seconds=0.5)
    # Slow and fast kernels are measured in separate interleaved runs: together, the slow ones would
    # leave few calls for the fast ones.
    _, least = te.time(kernels, seconds=0)
    for group in ([i for i, ns in enumerate(least) if ns > 2e7], [i for i, ns in enumerate(least) if ns <= 2e7]):
        if group:
            _, times = te.time([kernels[i] for i in group], seconds=seconds / 2)
            for i, ns in zip(group, times):
                least[i] = min(least[i], ns)
    peak = max(peak, te.peak(seconds=0.5))
    operations = 2 * size**3
    return [(t, ns / 1e6, operations / ns / peak) for t, ns in zip(titles, least)], peak


def table(rows):
    lines = ["| step | least ms of a call | share of the peak |", "| --- | ---: | ---: |"]
    lines += [f"| {title} | {ms:.2f} | {100 * share:.1f}% |" for title, ms, share in rows]
    return "\n".join(lines) + "\n"


def processor():
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return "an unknown processor"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--size", type=int, default=576, help="Multiplies square matrices of this size.")
    parser.add_argument("--seconds", type=float, default=20, help="Measures for so long.")
    parser.add_argument("--write", action="store_true", help="Writes the table to the page.")
    arguments = parser.parse_args()
    for title, s in schedules(36, 192, 32):
        print(f"{title}: largest difference from the evaluator {s.check():.1e}")
    rows, peak = measure(arguments.size, arguments.seconds)
    today = datetime.date.today().isoformat()
    text = table(rows) + (
        f"\nMeasured on {today}, {processor()}, one thread, {arguments.size} x {arguments.size} x {arguments.size}, "
        f"f32. The peak was {peak:.0f} GFLOP/s.\n"
    )
    print(text)
    if arguments.write:
        page = PAGE.read_text(encoding="utf-8")
        PAGE.write_text(TABLE.sub(lambda _: text, page), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
