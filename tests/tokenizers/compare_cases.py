#!/usr/bin/env python3
"""Compares our tokenizer with the cases of a corpus of vocabularies.

    bazel build //llm/tokenizer:tokenize
    tests/tokenizers/compare_cases.py ../shared/corpus/gguf/tokenizers [NAME...]

The folder has NAME.gguf (a vocabulary), NAME.gguf.inp (texts, separated by a line __ggml_vocab_test__) and NAME.gguf.out
(a line of ids per text). Prints the texts whose ids differ, and exits with 1 if there are any. Texts are encoded without
special tokens around them, and special tokens in them are not read; each is also decoded and compared with itself, if
the vocabulary keeps all of a text.
"""

import argparse
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
TOOL = os.path.join(ROOT, "bazel-bin/llm/tokenizer/tokenize")


def cases(path):
    """Returns the texts of NAME.gguf.inp and the ids of NAME.gguf.out."""
    with open(path + ".inp", encoding="utf-8", newline="") as f:
        texts = f.read().split("\n__ggml_vocab_test__\n")
    with open(path + ".out", encoding="utf-8") as f:
        lines = f.read().split("\n")
    ids = [[int(i) for i in line.split()] for line in lines]
    return texts, ids[: len(texts)]


def compare(tool, path):
    """Returns the number of cases and of differences."""
    texts, expected = cases(path)
    if len(texts) != len(expected):
        sys.exit("%s: %d texts, but %d lines of ids" % (path, len(texts), len(expected)))
    done = subprocess.run([tool, path, "--decode"], input="\0".join(texts).encode(), stdout=subprocess.PIPE)
    if done.returncode != 0:
        return len(texts), len(texts)
    # Only line feeds end lines: texts have other line ends of Unicode.
    lines = done.stdout.decode("utf-8").split("\n")
    bad = 0
    keeps_text = "bert" not in path
    for i, (text, want) in enumerate(zip(texts, expected)):
        found = [int(n) for n in lines[2 * i].split()]
        decoded = lines[2 * i + 1].replace("\\\\", "\0").replace("\\n", "\n").replace("\0", "\\")
        if found != want:
            bad += 1
            print("%s: case %d: %r\n  expected %s\n  found    %s" % (os.path.basename(path), i, text, want, found))
        elif keeps_text and decoded != text:
            bad += 1
            print("%s: case %d: %r decodes as %r" % (os.path.basename(path), i, text, decoded))
    return len(texts), bad


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--tool", default=TOOL)
    arguments = parser.parse_args()
    names = arguments.names or sorted(n[:-5] for n in os.listdir(arguments.folder) if n.endswith(".gguf"))
    failed = False
    for name in names:
        total, bad = compare(arguments.tool, os.path.join(arguments.folder, name + ".gguf"))
        print("%-16s %d of %d cases agree" % (name, total - bad, total))
        failed |= bad > 0
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
