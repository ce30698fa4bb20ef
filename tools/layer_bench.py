#!/usr/bin/python3
"""Measures single layers: GFLOP/s of the dispatch that computes each, and its share of the processor's peak.

usage: layer_bench.py [--layers ../shared/peers/layers.txt] [--threads 1] [--rounds 5] [--tier 2] [NAME...]
Needs Debian's python3-onnx (/usr/bin/python3); see layer_models.py for the list's form and compare_ort.py for where
Ember's tools and ONNX Runtime are (environment).

Each round runs every layer once, in a process of its own, and measures the peak of f32 multiply-adds; columns are medians
over the rounds. "us" is the layer's own dispatch, with its constant weights packed beforehand. Other dispatches convert images from
and to ONNX's layout; "model ms" includes them, as "ORT ms" does (ONNX Runtime, the same model).
"spread" is (largest - smallest) / median of us.
"""
import argparse
import os
import statistics
import sys
import tempfile

import compare_ort
import layer_models


def main_dispatch(module, threads, tier):
    """Returns microseconds and name of the dispatch with the most operations."""
    text = compare_ort.output_of([os.path.join(compare_ort.BIN, "vm-run"), module, f"--tier={tier}", "--explain",
                                  f"--threads={threads}", "--print=none", "--runs=40", "--no-kernel-cache"])
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if line.startswith("|")]
    head, rows = rows[0], [dict(zip(rows[0], row)) for row in rows[2:]]
    best = max(rows, key=lambda row: float(row["MFLOP"]))
    assert "median µs" in head, head
    return float(best["median µs"]), best["tier"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--layers", default=os.path.join(layer_models.ROOT, "../shared/peers/layers.txt"))
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--tier", default="2")
    parser.add_argument("names", nargs="*", metavar="NAME")
    options = parser.parse_args()
    layers = layer_models.read_layers(options.layers)
    unknown = [name for name in options.names if name not in layers]
    if unknown:
        parser.error(f"no layer '{unknown[0]}' in {options.layers}; it has {', '.join(layers)}")
    names = options.names or list(layers)
    measured = argparse.Namespace(runs=20, warmup=3, seconds=0.3, tier=options.tier)
    samples = {name: [] for name in names}
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            layer_models.write(layers[name], folder)
            path = os.path.join(folder, name)
            compare_ort.output_of([os.path.join(compare_ort.BIN, "vm-compile"), path + ".onnx", "-o", path + ".vmfb"])
        for number in range(options.rounds):
            for name in names:
                path = os.path.join(folder, name)
                peak = compare_ort.measure_peak(options.threads)
                us, tier = main_dispatch(path + ".vmfb", options.threads, options.tier)
                ours = compare_ort.measure_ember(path + ".vmfb", options.threads, [], measured)
                theirs = compare_ort.measure_ort(path + ".onnx", options.threads, [], measured)
                samples[name].append((us, peak, ours["median_ms"], theirs["median_ms"], tier))
                print(f"{name}, round {number + 1}: {us:.1f} us", file=sys.stderr)
        flops = {name: compare_ort.read_flops(os.path.join(folder, name + ".onnx")) for name in names}
    print("| layer | threads | us | spread | GFLOP/s | of peak | tier | model ms | ORT ms | ratio |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for name in names:
        us, peak, ours, theirs, tiers = zip(*samples[name])
        rate = flops[name] / statistics.median(us) / 1e3
        ours, theirs = statistics.median(ours), statistics.median(theirs)
        print(f"| {name} | {options.threads} | {statistics.median(us):.1f} | {compare_ort.spread(us):.0%} | {rate:.0f} | "
              f"{rate / statistics.median(peak):.0%} | {tiers[0]} | {ours:.3f} | {theirs:.3f} | {ours / theirs:.2f}x |")


if __name__ == "__main__":
    main()
