#!/usr/bin/python3
"""Measures what importing one large model costs in each format, compared with ONNX: peak memory and time. `./dev bench --import` calls it.

usage: import_costs.py [--rounds 5] [--width 2048] [--layers 6] [--folder DIR] [--json FILE] [FORMAT...]

import_models.py writes the model, 100 MB of f32 weights, in every format. Then vm-compile compiles each file alternately with ONNX's,
and vm-run runs each module once on the same random input: the results must equal ONNX's.

  file, module   megabytes (10^6 bytes) of all files of the model, and of the module
  peak           the process's largest resident memory, which pages of mapped files are part of (median)
  over           peak less file and module. The goal is at most 25 MB, the program itself
  CPU s          user and system time of the process (median); s/MB: of that, for a megabyte of the file
  ratio          of s/MB to ONNX's in the same round (median, and all rounds' least and largest). The goal is at most 2
Exit status 1: a format could not be measured, or gave other results. Missed goals are marked with '!'.
"""

import argparse
import array
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile

import children
import compare_ort

MODELS = os.path.join(compare_ort.ROOT, "tools/import_models.py")
MEGABYTE = 1e6
MOST_OVER, MOST_RATIO = 25, 2


def write_models(options, folder):
    """Returns for each format its file and the flags of vm-compile, or None and the reason why there is no file."""
    # The models are written by another process. A child's peak memory is at least the memory that
    # its parent has when it starts the child, so this process has to stay small.
    command = [MODELS, "--out", folder, f"--width={options.width}", f"--layers={options.layers}"] + options.formats
    lines = compare_ort.output_of(command).splitlines()
    models = {}
    for name, path, *rest in (line.split() for line in lines):
        models[name] = (None, " ".join(rest)) if path == "-" else (path, rest)
    return models


def measure(command):
    """Returns peak megabytes and CPU seconds."""
    with tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=errors, text=True,
                                   preexec_fn=children.end_with_parent)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            errors.seek(0)
            raise RuntimeError((errors.read().strip().splitlines() or ["no message"])[-1])
    return {"peak_mb": usage.ru_maxrss * 1024 / MEGABYTE, "cpu_s": usage.ru_utime + usage.ru_stime}


def file_megabytes(path):
    """Returns the size of all files that were written for the model."""
    sizes = (os.path.getsize(os.path.join(folder, file)) for folder, _, files in os.walk(os.path.dirname(path)) for file in files)
    return sum(sizes) / MEGABYTE


def result_of(module, width, name, folder):
    given, got = os.path.join(folder, "x.raw"), os.path.join(folder, "y.raw")
    if not os.path.exists(given):
        numbers = random.Random(18)
        with open(given, "wb") as file:
            array.array("f", (numbers.uniform(-1, 1) for _ in range(width))).tofile(file)
    dims = f"{width}" if name == "coreml" else f"1x{width}"  # an array in Core ML has no batch dim
    compare_ort.output_of([os.path.join(compare_ort.BIN, "vm-run"), module, f"--input=x={dims}xf32=@{given}", f"--output=@{got}",
                           "--tier=0", "--print=none"])
    values = array.array("f")
    with open(got, "rb") as file:
        values.frombytes(file.read())
    return values


def check_same(values, expected):
    most = max(abs(value) for value in expected)
    if most == 0 or len(values) != len(expected):
        raise RuntimeError(f"expected {len(expected)} results, not all 0, found {len(values)} (largest {most})")
    difference = max(abs(a - b) for a, b in zip(values, expected))
    if not difference <= 1e-5 * most:
        raise RuntimeError(f"a result differs by {difference:.2g} from ONNX's, of which the largest is {most:.2g}")


def compile_command(name, models, folder):
    path, told = models[name]
    module = os.path.join(folder, name + ".vmfb")
    return [os.path.join(compare_ort.BIN, "vm-compile"), path, *told, "-o", module], module


def measure_all(options, models, folder):
    """Returns the measurements of each format, or the text of its error."""
    measured = {name: reason for name, (path, reason) in models.items() if path is None}
    expected = None
    for name in (name for name in models if name not in measured):
        command, module = compile_command(name, models, folder)
        try:
            # This first run is not measured. It only loads the model's file into the
            # system's file cache.
            measure(command)
            values = result_of(module, options.width, name, folder)
            expected = expected or values
            check_same(values, expected)
            rounds = []
            for _ in range(options.rounds):
                rounds.append(measure(command))
                rounds[-1]["onnx"] = measure(compile_command("onnx", models, folder)[0])
            file_mb = file_megabytes(models[name][0])
            onnx_mb = file_megabytes(models["onnx"][0])
            ratios = [r["cpu_s"] / file_mb / (r["onnx"]["cpu_s"] / onnx_mb) for r in rounds]
            measured[name] = {
                "file_mb": file_mb, "module_mb": os.path.getsize(module) / MEGABYTE, "ratios": ratios,
                **{key: statistics.median(r[key] for r in rounds) for key in ("peak_mb", "cpu_s")}}
            print(f"{name}: {measured[name]['peak_mb']:.0f} MB, {measured[name]['cpu_s']:.3f} s", file=sys.stderr)
        except RuntimeError as error:
            measured[name] = str(error)
        if name != "onnx" and os.path.exists(module):
            os.remove(module)
    return measured


HEAD = ("format", "file MB", "module MB", "peak MB", "over", "CPU s", "s/MB", "ratio", "least to largest")


def row_of(name, m):
    over = m["peak_mb"] - m["file_mb"] - m["module_mb"]
    ratio = statistics.median(m["ratios"])
    mark = lambda text, missed: text + (" !" if missed else "")
    return (name, f"{m['file_mb']:.1f}", f"{m['module_mb']:.1f}", f"{m['peak_mb']:.1f}", mark(f"{over:.1f}", over > MOST_OVER),
            f"{m['cpu_s']:.3f}", f"{m['cpu_s'] / m['file_mb']:.4f}", mark(f"{ratio:.2f}", ratio > MOST_RATIO),
            f"{min(m['ratios']):.2f} to {max(m['ratios']):.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("formats", nargs="*", metavar="FORMAT", help="formats of import_models.py (default: all)")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--width", type=int, default=2048, help="the width of each layer")
    parser.add_argument("--layers", type=int, default=6)
    parser.add_argument("--folder", metavar="DIR", help="writes models and modules (1.5 GB) to this folder (default: a temporary one)")
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args()
    if options.formats and "onnx" not in options.formats:
        options.formats = ["onnx"] + options.formats
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        measured = measure_all(options, write_models(options, folder), folder)
    complete = {name: m for name, m in measured.items() if not isinstance(m, str)}
    compare_ort.print_lines([HEAD] + [row_of(name, m) for name, m in complete.items()])
    for name, reason in measured.items():
        if isinstance(reason, str):
            print(f"import_costs: {name}: {reason}", file=sys.stderr)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(measured, file, indent=1)
    return 0 if len(complete) == len(measured) else 1


if __name__ == "__main__":
    sys.exit(main())
