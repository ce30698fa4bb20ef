#!/usr/bin/env python3
"""Compares vm-generate with llama.cpp, and with recorded results.

usage: compare_llama.py [--architectures llama,qwen2,…] [--types F32,Q4_0,…] [--tiers 0,2] [--steps 8] [--seed 1]
       compare_llama.py --golden FOLDER [--tiers 0,2]

Without --golden the script writes files of random weights (random_gguf.py) and compares the probabilities of each step: the largest
difference of a logarithm among the likeliest tokens ("log error"), the largest difference of a probability, and how often the likeliest
token is the same. llama.cpp rounds activations to 8 bits where weights are quantised, and to f16 where they are f16, so errors of these
types are of that size. Architectures are compared as F32. Types are compared with the architecture llama, twice: with all weights of the
type, and with the embedding alone, whose rows llama.cpp widens exactly.

FOLDER holds NAME.gguf with NAME.golden.json: for each prompt the greedy ids and the five likeliest tokens of the first steps
(../shared/corpus/gguf/llama_260k). Ids must be equal until the first step whose two likeliest tokens are closer than --tie.

Exits with 1 if an error is above its bound. Environment: EMBER_BIN, the folder of vm-generate (bazel-bin/tools); LLAMA_DIR, where
`npm install --ignore-scripts node-llama-cpp @node-llama-cpp/linux-x64` was run.
"""

import argparse
import glob
import json
import math
import os
import subprocess
import sys
import tempfile

import random_gguf

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BIN = os.environ.get("EMBER_BIN") or os.path.join(ROOT, "bazel-bin/tools")
# Upper bounds of the error that compare_steps finds in the logarithms of the
# likeliest tokens' probabilities, by the type of the weights.
EXACT_BOUND = 5e-4
BOUNDS = {"F32": EXACT_BOUND, "F16": 0.05, "BF16": 0.1}
OTHER_BOUND = 0.6
# llama.cpp computes GELU from a table of f16 values, and always by the tanh
# approximation. So models have a larger bound if the tuple GELU names their architecture.
GELU_BOUND = 1e-2
GELU = ("gemma", "gpt2", "falcon")


def top(model, prompt, count, tier, width, forced=None, context=0):
    """Returns [[(id, probability), …], …] of the steps by vm-generate."""
    command = [os.path.join(BIN, "vm-generate"), model, "--ids=" + ",".join(map(str, prompt)), "-n", str(count), "--tier=" + tier,
               "--top=%d" % width, "--context=%d" % context]
    if forced:
        command.append("--forced=" + ",".join(map(str, forced)))
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode != 0:
        raise RuntimeError(run.stderr.strip())
    return [[(i, p) for i, p in json.loads(line)] for line in run.stdout.splitlines()]


def embed(model, prompt, tier, folder):
    """Returns the embedding that vm-run computes."""
    out = os.path.join(folder, "embedding.bin")
    value = "tokens=1x%dxi32=%s" % (len(prompt), ",".join(map(str, prompt)))
    run = subprocess.run([os.path.join(BIN, "vm-run"), model, "--input=" + value, "--tier=" + tier, "--output=embedding=@" + out,
                          "--print=none"], capture_output=True, text=True)
    if run.returncode != 0:
        raise RuntimeError(run.stderr.strip())
    import array
    numbers = array.array("f")
    with open(out, "rb") as file:
        numbers.frombytes(file.read())
    return numbers


class Llama:
    """A process of llama_golden.mjs."""

    def __init__(self):
        script = os.path.join(ROOT, "tools/llama_golden.mjs")
        self.process = subprocess.Popen(["node", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, **request):
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        if "error" in answer:
            raise RuntimeError("llama.cpp: " + answer["error"])
        return answer


class Errors:
    """The differences of one file on one tier."""

    def __init__(self):
        self.log = self.probability = 0.0
        self.same = self.steps = 0

    def add(self, got, want):
        """Adds a step. Both are lists of (id, probability), the likeliest first."""
        found = dict(got)
        for token, probability in want[:10]:
            if token not in found or found[token] <= 0 or probability < 1e-6:
                continue
            self.log = max(self.log, abs(math.log(found[token] / probability)))
            self.probability = max(self.probability, abs(found[token] - probability))
        self.same += got[0][0] == want[0][0]
        self.steps += 1

    def text(self):
        return "log error %.2e, probability %.2e, likeliest equal %d of %d" % (self.log, self.probability, self.same, self.steps)


def compare_steps(llama, path, prompt, arguments, tier):
    steps = llama.ask(model=path, prompt=prompt, count=arguments.steps)["steps"]
    forced = [step[0][0] for step in steps]
    got = top(path, prompt, arguments.steps, tier, 400, forced, 512)
    errors = Errors()
    for mine, theirs in zip(got, steps):
        errors.add(mine, theirs)
    return errors


def compare_embedding(llama, path, prompt, tier, folder):
    want = llama.ask(model=path, prompt=prompt, embed=True)["embedding"]
    got = embed(path, prompt, tier, folder)
    largest = max(abs(x) for x in want)
    return max(abs(a - b) for a, b in zip(got, want, strict=True)) / largest


def compare_random(arguments):
    names = arguments.architectures.split(",") if arguments.architectures else list(random_gguf.ARCHITECTURES)
    cases = [(name, variant, "F32", False) for name in names for variant in [""] + random_gguf.ARCHITECTURES[name][1]]
    kinds = arguments.types.split(",") if arguments.types else random_gguf.TYPES
    if arguments.types:
        cases = []
    if arguments.types or not arguments.architectures:
        cases += [("llama", "", kind, only) for kind in kinds for only in (False, True) if kind != "F32"]
    llama = Llama()
    failed = 0
    prompt = [1, 270, 280, 290, 33, 300, 44, 270, 280, 121, 99, 280]
    with tempfile.TemporaryDirectory() as folder:
        for name, variant, kind, only_embedding in cases:
            path = os.path.join(folder, "model.gguf")
            script = os.path.join(ROOT, "tools/random_gguf.py")
            command = [sys.executable, script, path, "--architecture", name, "--type", kind, "--seed", str(arguments.seed)]
            command += (["--variant", variant] if variant else []) + (["--only-embedding"] if only_embedding else [])
            subprocess.check_call(command)
            for tier in arguments.tiers.split(","):
                what = name + ("/" + variant if variant else "") + (" (embedding)" if only_embedding else "")
                label = "%-20s %-7s tier %s: " % (what, kind, tier)
                try:
                    if "bert" in name:
                        error = compare_embedding(llama, path, prompt, tier, folder)
                        # The bound is not tighter because llama.cpp computes
                        # GELU by its tanh approximation.
                        bad, text = error > 5e-3, "embedding error %.2e" % error
                    else:
                        errors = compare_steps(llama, path, prompt, arguments, tier)
                        bound = EXACT_BOUND if only_embedding else BOUNDS.get(kind, OTHER_BOUND)
                        bound = max(bound, GELU_BOUND) if name.startswith(GELU) else bound
                        bad, text = errors.log > bound, errors.text()
                except RuntimeError as error:
                    bad, text = True, str(error)
                failed += bad
                print(label + text + (" FAILED" if bad else ""), flush=True)
    return failed


def compare_golden(arguments):
    failed = 0
    for path in sorted(glob.glob(os.path.join(arguments.golden, "*.golden.json"))):
        model = path.replace(".golden.json", ".gguf")
        with open(path) as file:
            cases = json.load(file)["cases"]
        for tier in arguments.tiers.split(","):
            errors, equal, total, early = Errors(), 0, 0, []
            for case in cases:
                greedy, tops = case["greedy"], case["top5_of_first_16"]
                steps = top(model, case["prompt"], len(greedy), tier, 20)
                for i, step in enumerate(steps):
                    if step[0][0] != greedy[i]:
                        margin = step[0][1] - dict(step).get(greedy[i], 0.0)
                        early.append("step %d of %d, margin %.4f" % (i, len(greedy), margin))
                        failed += margin > arguments.tie
                        break
                    if i < len(tops):
                        errors.add(step, tops[i])
                    equal += 1
                total += len(greedy)
            name = os.path.basename(model)
            print("%-12s tier %s: %d of %d greedy ids equal (%s); %s" %
                  (name, tier, equal, total, "; ".join(early) or "all", errors.text()), flush=True)
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--golden")
    parser.add_argument("--architectures", default="")
    parser.add_argument("--types", default="")
    parser.add_argument("--tiers", default="0,2")
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tie", type=float, default=0.03, help="the margin of probabilities below which a step is a near tie")
    arguments = parser.parse_args()
    return 1 if (compare_golden if arguments.golden else compare_random)(arguments) else 0


if __name__ == "__main__":
    sys.exit(main())
