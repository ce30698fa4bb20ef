#!/usr/bin/env python3
"""Measures language models beside llama.cpp, in turns: tokens per second, and seconds until the first token.

usage: language_model_speed.py FILE.gguf… [--threads 1,2] [--prompt 128] [--tokens 64] [--rounds 3]

For each file and number of threads, the medians of some rounds, in each of which both programs run once:
  first    seconds from the start of the process to the first token after the prompt. Ember runs the compiled module, with kernels
           in its cache; llama.cpp's time is that from loading the file on, without the start of node
  prompt   tokens per second of the prompt, by vm-run after the first run; llama.cpp's includes its first run, as it has only one
  decode   tokens per second behind the first eight tokens
  GB/s     bytes of the module's constants for each token of Ember's decode

Exits with 1 if a program fails. Environment: EMBER_BIN, the folder of the tools (bazel-bin/tools); LLAMA_DIR, where
`npm install --ignore-scripts node-llama-cpp @node-llama-cpp/linux-x64` was run.
"""

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

BIN = os.environ.get("EMBER_BIN", "bazel-bin/tools")
# Number of first tokens that are excluded from the measured rate, because
# kernels are compiled while they are generated.
WARM = 8

LLAMA = """
import {getLlama} from "node-llama-cpp";
const [,, path, ids, count, threads] = process.argv;
const llama = await getLlama({gpu: false, build: "never", maxThreads: +threads, logLevel: "error"});
const start = performance.now();
const model = await llama.loadModel({modelPath: path});
const context = await model.createContext({contextSize: 1024, threads: +threads, batchSize: 512});
const sequence = context.getSequence();
const prompt = ids.split(",").map(Number);
const begin = performance.now(), times = [];
for await (const token of sequence.evaluate(prompt, {temperature: 0})) {
  times.push(performance.now());
  if (times.length > +count) break;
}
console.log(JSON.stringify({start, begin, times}));
process.exit(0);
"""


def llama(folder, path, ids, count, threads):
    output = subprocess.run(["node", os.path.join(folder, "ember_speed.mjs"), path, ids, str(count), str(threads)], cwd=folder,
                            check=True, capture_output=True, text=True).stdout
    run = json.loads(output.strip().splitlines()[-1])
    times = [t / 1000 for t in run["times"]]
    return {"first": times[0] - run["start"] / 1000, "prompt": (ids.count(",") + 1) / (times[0] - run["begin"] / 1000),
            "decode": (len(times) - 1 - WARM) / (times[-1] - times[WARM])}


def ember(module, ids, count, threads, state, tokens):
    start = time.monotonic()
    process = subprocess.Popen([f"{BIN}/vm-generate", module, f"--ids={ids}", "-n", str(count + 1), f"--threads={threads}"],
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    times = []
    while byte := process.stdout.read(1):
        if byte in b",\n":
            times.append(time.monotonic() - start)
    if process.wait() != 0:
        sys.exit(f"vm-generate failed for {module}")
    prefill = subprocess.run([f"{BIN}/vm-run", module, f"--input=tokens=@{tokens}", *state, "--tier=2", f"--threads={threads}",
                              "--print=none", "--runs=4"], check=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout
    milliseconds = float(re.search(r"the others ([0-9.e+]+) ms", prefill).group(1))
    return {"first": times[0], "prompt": (ids.count(",") + 1) / (milliseconds / 1000),
            "decode": (len(times) - 1 - WARM) / (times[-1] - times[WARM])}


def write_tokens(path, ids):
    """Writes the ids as a NumPy file, without NumPy."""
    header = "{'descr': '<i4', 'fortran_order': False, 'shape': (1, %d), }" % len(ids)
    header += " " * (-(len(header) + 11) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode())
        for token in ids:
            file.write(token.to_bytes(4, "little"))


def compile_model(path, folder):
    """Returns the module, the flags that give its state, and its bytes of constants."""
    module = os.path.join(folder, "model.vmfb")
    output = subprocess.run([f"{BIN}/vm-compile", path, "-o", module], check=True, capture_output=True, text=True)
    text = output.stdout + output.stderr
    state = []
    inputs = text.split("results")[0]
    for name, heads, size in re.findall(r"(blk\.\d+\.\w+): \[batch, (\d+), context, (\d+)\] f32", inputs):
        state.append(f"--shape={name}=1x{heads}x1024x{size}xf32")
    return module, state, float(re.search(r"constants of ([0-9.]+) MB", text).group(1)) * 1e6


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", metavar="FILE.gguf")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--prompt", type=int, default=128, help="the number of tokens of the prompt")
    parser.add_argument("--tokens", type=int, default=64, help="the number of tokens behind it")
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    peer = os.environ.get("LLAMA_DIR")
    if not peer:
        sys.exit("LLAMA_DIR: expected the folder of node-llama-cpp, found nothing; see --help")
    with open(os.path.join(peer, "ember_speed.mjs"), "w", encoding="utf-8") as file:
        file.write(LLAMA)
    tokens = [1] + [300 + i * 7 % 200 for i in range(arguments.prompt - 1)]
    ids = ",".join(map(str, tokens))
    print("| file | threads | first: Ember, llama.cpp | prompt: Ember, llama.cpp | decode: Ember, llama.cpp | GB/s |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for path in arguments.files:
        with tempfile.TemporaryDirectory() as folder:
            module, state, size = compile_model(path, folder)
            write_tokens(os.path.join(folder, "tokens.npy"), tokens)
            for threads in arguments.threads.split(","):
                runs = {"ember": [], "llama": []}
                # This run is not measured. It puts the compiled kernels into
                # the kernel cache.
                ember(module, ids, arguments.tokens, threads, state, os.path.join(folder, "tokens.npy"))
                for _ in range(arguments.rounds):
                    runs["ember"].append(ember(module, ids, arguments.tokens, threads, state, os.path.join(folder, "tokens.npy")))
                    runs["llama"].append(llama(peer, os.path.abspath(path), ids, arguments.tokens, threads))
                cells = []
                for what, digits in (("first", 2), ("prompt", 0), ("decode", 1)):
                    pair = [statistics.median(run[what] for run in runs[who]) for who in ("ember", "llama")]
                    cells.append(f"{pair[0]:.{digits}f}, {pair[1]:.{digits}f}")
                rate = statistics.median(run["decode"] for run in runs["ember"]) * size / 1e9
                print(f"| {os.path.basename(path)} | {threads} | {' | '.join(cells)} | {rate:.1f} |", flush=True)


if __name__ == "__main__":
    main()
