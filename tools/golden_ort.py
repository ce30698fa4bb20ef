#!/usr/bin/env python3
"""Prints the table of recorded models with ONNX Runtime's times and ours. `./dev golden --ort` calls it.

usage: golden_ort.py --golden=BINARY --corpus=DIR --seeded=DIR [--rounds 3] [--seconds 0.3]
                     [--json FILE] [GOLDEN_MODELS_FLAGS]...

golden_models compares the results (flags that are not named above are passed to it). For each model that
passes, the engines take turns in rounds on the first data set's inputs, one thread each; a row is the
median over the rounds of each side's median, their ratio (above 1: Ember is slower) and the larger
spread of both ((largest - smallest) / median). Ember's call is timed in C++, ONNX Runtime's in node
(tools/ort_golden.mjs), which adds some microseconds to each call: below 0.1 ms a ratio says little.

Environment: ORT_DIR, where `npm install --ignore-scripts onnxruntime-node@1.30.0` was run
(~/.cache/ember/ort).
"""

import argparse
import json
import os
import statistics
import subprocess
import sys

import children

TOOLS = os.path.dirname(os.path.abspath(__file__))


class Ort:
    """One node process that answers with a line per measurement. It is started again after it has died."""

    def __init__(self, seconds):
        self.seconds = seconds
        self.process = None

    def milliseconds(self, model, data_set):
        if self.process is None or self.process.poll() is not None:
            self.process = subprocess.Popen(
                ["node", os.path.join(TOOLS, "ort_golden.mjs")],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                preexec_fn=children.end_with_parent)
        request = {"model": model, "set": data_set, "seconds": self.seconds}
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        answer = json.loads(line) if line else {"error": "node died"}
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return answer["ms"]


def golden(options, extra):
    command = [options.golden, f"--corpus={options.corpus}", f"--seeded={options.seeded}", "-o", "json"]
    # The exit status is not checked: models with wrong results are rows of the table, not failures
    # of this script.
    done = subprocess.run(command + options.flags + extra, stdout=subprocess.PIPE, text=True,
                          preexec_fn=children.end_with_parent)
    return json.loads(done.stdout)


def spread(values):
    return (max(values) - min(values)) / statistics.median(values)


def measure(row, options, ort):
    """Adds "ms", "ort ms", "ratio" and "spread" to the row, or "ort" with the reason."""
    ours, theirs = [], []
    try:
        for _ in range(options.rounds):
            again = golden(options, [f"--only={row['model']}", f"--seconds={options.seconds}"])
            ours.append(again[0]["ms"])
            theirs.append(ort.milliseconds(row["file"], row["set"]))
    except (RuntimeError, IndexError, TypeError) as error:
        row["ort"] = str(error)
        return
    row["ms"] = statistics.median(ours)
    row["ort ms"] = statistics.median(theirs)
    row["ratio"] = row["ms"] / row["ort ms"]
    row["spread"] = max(spread(ours), spread(theirs))


COLUMNS = ("model", "status", "max abs", "max rel", "ms", "ort ms", "ratio", "spread", "note")


def cell(row, column):
    value = row.get(column)
    if column == "note":
        notes = [str(row.get("note") or ""), f"ONNX Runtime: {row['ort']}" if "ort" in row else ""]
        return "; ".join(n for n in notes if n).replace("|", "\\|")
    if value is None:
        return ""
    if column in ("ms", "ort ms"):
        return f"{value:.3f}"
    if column == "ratio":
        return f"{value:.2f}x"
    if column == "spread":
        return f"{value:.0%}"
    return str(value)


def print_table(rows):
    print("| " + " | ".join(COLUMNS) + " |")
    print("|" + " --- |" * len(COLUMNS))
    for row in rows:
        print("| " + " | ".join(cell(row, column) for column in COLUMNS) + " |")
    counts = {}
    for row in rows:
        counts[row["status"]] = counts.get(row["status"], 0) + 1
    print(f"\n{len(rows)} models: " + ", ".join(f"{n} {s}" for s, n in sorted(counts.items())) + ".")
    ratios = [row["ratio"] for row in rows if "ratio" in row]
    if ratios:
        large = [row["ratio"] for row in rows if "ratio" in row and row["ort ms"] >= 0.1]
        print(f"Ratio to ONNX Runtime: median {statistics.median(ratios):.2f}x of {len(ratios)}" +
              (f"; {statistics.median(large):.2f}x of the {len(large)} that take it 0.1 ms or more."
               if large else "."))


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--golden", required=True)
    parser.add_argument("--corpus", required=True)
    parser.add_argument("--seeded", required=True)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=0.3)
    parser.add_argument("--json", metavar="FILE")
    options, options.flags = parser.parse_known_args()
    rows = golden(options, [])
    ort = Ort(options.seconds)
    for row in rows:
        if row["status"] == "ok":
            measure(row, options, ort)
            print(f"{row['model']}: {cell(row, 'ratio') or row.get('ort')}", file=sys.stderr)
    print_table(rows)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(rows, file, indent=1)
    return 1 if any(row["status"] in ("differs", "error") for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
