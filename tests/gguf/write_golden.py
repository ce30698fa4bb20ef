#!/usr/bin/env python3
"""Writes golden.h: what llama.cpp computes of the sample models (frontends/gguf/testing/sample_models.h).

usage: bazel build //tests/gguf:write_samples && tests/gguf/write_golden.py

Needs LLAMA_DIR, as tools/llama_golden.mjs does. Run it when samples change, and read the differences.
"""

import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tools"))
import compare_llama  # noqa: E402

PROMPT, FORCED, STEPS, TOP, NUMBERS = [1, 7, 8, 9], [11, 5, 7], 3, 4, 8
HEAD = """// Written by write_golden.py: the likeliest tokens of llama.cpp (node-llama-cpp,
// CPU, keys and values as f32) for the sample models, and the first numbers of
// embeddings.
// clang-format off
#ifndef EMBER_TESTS_GGUF_GOLDEN_H_
#define EMBER_TESTS_GGUF_GOLDEN_H_

#include <cstdint>
#include <string_view>
#include <vector>

namespace ember::gguf {

struct GoldenToken {
  int64_t token;
  double probability;
};
struct GoldenModel {
  std::string_view name;
  std::vector<std::vector<GoldenToken>> steps;
  std::vector<double> embedding;
};

inline const std::vector<int32_t> kGoldenPrompt = {%s};
inline const std::vector<int32_t> kGoldenForced = {%s};

inline const std::vector<GoldenModel> kGolden = {
"""
TAIL = """};

}  // namespace ember::gguf

#endif  // EMBER_TESTS_GGUF_GOLDEN_H_
"""


def main():
    binary = sys.argv[1] if len(sys.argv) > 1 else os.path.join(ROOT, "bazel-bin/tests/gguf/write_samples")
    llama = compare_llama.Llama()
    text = HEAD % (", ".join(map(str, PROMPT)), ", ".join(map(str, FORCED[:STEPS - 1])))
    with tempfile.TemporaryDirectory() as folder:
        subprocess.check_call([binary, folder])
        for file in sorted(os.listdir(folder)):
            name = file[:-len(".gguf")].replace("_", "/", 1)
            path = os.path.join(folder, file)
            if "bert" in name:
                numbers = llama.ask(model=path, prompt=PROMPT, embed=True)["embedding"][:NUMBERS]
                text += '    {"%s", {}, {%s}},\n' % (name, ", ".join("%.7g" % x for x in numbers))
                continue
            steps = llama.ask(model=path, prompt=PROMPT, count=STEPS, forced=FORCED)["steps"]
            rows = ["{%s}" % ", ".join("{%d, %.7g}" % tuple(pair) for pair in step[:TOP]) for step in steps]
            text += '    {"%s", {%s}, {}},\n' % (name, ", ".join(rows))
    with open(os.path.join(ROOT, "tests/gguf/golden.h"), "w") as out:
        out.write(text + TAIL)
    return 0


if __name__ == "__main__":
    sys.exit(main())
