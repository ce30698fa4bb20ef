#!/usr/bin/env python3
"""Prints figures of CUDA kernels, on a machine that has a GPU.

    bazel build //tools:vm-run //tools:vm-bench //tools:vm-diff //hal/cuda:conformance_gpu
    tools/cuda_figures.py MODEL.onnx... [--bin=bazel-bin] [--ptxas] [-o json]

Runs these, in this order, and prints their output:
  1. the HAL's conformance suite on the GPU;
  2. vm-diff of each model, which compares every dispatch with tier 0;
  3. vm-bench of each model: latency, host time, how much ran on the CPU;
  4. with --ptxas (the CUDA toolkit; needs no GPU): registers, spills and shared
     memory of each kernel, from `ptxas -v`.

Without a GPU it says so and exits 2; --ptxas works all the same, with kernels
made for the emulated device (EMBER_CUDA_EMULATE=sm_90a chooses which).
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile


def run(command, **options):
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


def find_gpu(bin_folder):
    """Returns the target of cuda:0, or the reason why there is none."""
    listed = run([f"{bin_folder}/tools/vm-run", "--list-devices"]).stdout
    section = re.search(r"^cuda: .*\n((?:  .*\n)*)", listed, re.M)
    if section is None:
        return None, "vm-run --list-devices lists no driver cuda"
    found = re.search(r"^  cuda:0 .*\n\s+(sm_\S+)", section.group(1), re.M)
    return (found.group(1), "") if found else (None, section.group(1).strip())


def check_models(bin_folder, models):
    rows = []
    for model in models:
        done = run([f"{bin_folder}/tools/vm-diff", model, "-b", "device:cuda"])
        last = (done.stdout + done.stderr).strip().splitlines()[-1:]
        rows.append({"model": model, "ok": done.returncode == 0, "says": "".join(last)})
    return rows


def time_models(bin_folder, models):
    done = run([f"{bin_folder}/tools/vm-bench", *models, "--device=cuda", "-o", "json"])
    if done.returncode != 0:
        return {"error": done.stderr.strip()}
    return json.loads(done.stdout)


def assemble(bin_folder, models, device, ptxas):
    """Runs ptxas -v on every kernel of the models on the device, and returns the figures as rows."""
    rows = []
    for model in models:
        with tempfile.TemporaryDirectory() as folder:
            done = run([f"{bin_folder}/tools/vm-run", model, f"--device={device}", "--tier=2",
                        f"--dump-kernels={folder}", "--no-kernel-cache"])
            if done.returncode != 0:
                rows.append({"model": model, "error": done.stderr.strip()})
                continue
            for name in sorted(os.listdir(folder)):
                if not name.endswith(".ptx"):
                    continue
                path = os.path.join(folder, name)
                with open(path, encoding="utf-8") as file:
                    arch = re.search(r"^\.target (\S+)", file.read(), re.M).group(1)
                # The flag -arch gets the architecture that the .ptx file names. A fixed one
                # would be refused by toolkits that lack it.
                said = run([ptxas, "-v", f"-arch={arch}", path, "-o", "/dev/null"]).stderr
                for entry in re.finditer(
                        r"Compiling entry function '(\w+)'.*?"
                        r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads.*?"
                        r"Used (\d+) registers", said, re.S):
                    rows.append({"model": model, "kernel": f"{name[:-4]}.{entry[1]}", "stack": int(entry[2]),
                                 "spills": int(entry[3]) + int(entry[4]), "registers": int(entry[5])})
                if "error" in said or "fatal" in said:
                    rows.append({"model": model, "kernel": name[:-4], "error": said.strip().splitlines()[0]})
    return rows


def print_table(title, rows):
    print(f"\n{title}")
    if not isinstance(rows, list):
        print(json.dumps(rows, indent=1))
        return
    for row in rows:
        print("  " + ", ".join(f"{key} {value}" for key, value in row.items()))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", metavar="MODEL")
    parser.add_argument("--bin", default="bazel-bin")
    parser.add_argument("--ptxas", action="store_true")
    parser.add_argument("--ptxas-path", default="/usr/local/cuda/bin/ptxas")
    parser.add_argument("-o", choices=["md", "json"], default="md", dest="form")
    options = parser.parse_args()
    figures = {}
    target, reason = find_gpu(options.bin)
    if target is None:
        print(f"NOT RUN on a GPU: {reason}", file=sys.stderr)
    else:
        figures["target"] = target
        suite = run([f"{options.bin}/hal/cuda/conformance_gpu", "--device=cuda"])
        figures["conformance"] = [{"ok": suite.returncode == 0, "says": suite.stdout.strip().splitlines()[-1]}]
        figures["differences"] = check_models(options.bin, options.models)
        figures["times"] = time_models(options.bin, options.models)
    if options.ptxas:
        device = "cuda" if target else "cuda-emulated"
        figures["kernels"] = assemble(options.bin, options.models, device, options.ptxas_path)
    if options.form == "json":
        print(json.dumps(figures, indent=1))
    else:
        for title, rows in figures.items():
            print_table(title, rows)
    wrong = any(not row["ok"] for part in ("conformance", "differences") for row in figures.get(part, []))
    failed = any("error" in row for row in figures.get("kernels", []))
    sys.exit(1 if wrong or failed else 2 if target is None and not options.ptxas else 0)


if __name__ == "__main__":
    main()
