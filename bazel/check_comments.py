#!/usr/bin/env python3
"""Checks that comments, pages and messages are plain English and that what they name exists.

    git ls-files -z | python3 bazel/check_comments.py            # lint: prints findings, exits 1
    git ls-files -z | python3 bazel/check_comments.py --share    # how many comments begin as fragments, by folder
    git ls-files -z | python3 bazel/check_comments.py --sample=100 --seed=7   # comments drawn at random

File names come on stdin, NUL between. The rules (docs/style.md gives reasons and examples):

- A comment is whole sentences, or a header form such as "Returns ..." or "Bytes of ...". It does not begin
  with a word of FIRST, which in practice begins a clause without its sentence.
- WORDS have a plainer word, which the finding names.
- A path, a Name::name and a FunctionName() in a comment or a page exist in this repository.
- Texts for users (message_strings.py) keep WORDS, too, and no sentence of them begins with a word of
  FIRST_OF_MESSAGE. Tests and the generators beside them are free to say anything.
"""

import argparse
import collections
import random
import re
import sys

from comment_blocks import comment_blocks, has_comments, without_comments
from message_strings import message_strings

FIRST = re.compile(
    r"(of|what|whether|which|where|who|whose|whom|how|those|that|as|by|with|else|this is what|there is what)\b", re.I)

# Matches a bad first word of a sentence in a message for users. "With" is allowed ("With --flag:
# ..."). The rule matches capital letters only: a literal in lower case is often the continuation of
# a sentence in another literal.
FIRST_OF_MESSAGE = re.compile(r"(?:^|[.:!?] )((?:Of|What|Whether|Which|Where|Who|Whose|Whom|How|Those|That|As|By(?! default)|Else)\b)")

# Shortest comment, in words, that --share counts.
WORDS_OF_A_SENTENCE = 4

# Words without one plain meaning, each with a text that says which word to use instead.
WORDS = [
    (re.compile(r"\b(nobody|somebody|whoever)\b", re.I), "name who acts: no caller, another thread, the user"),
    (re.compile(r"\b(goes|go|going|went) on\b(?! (to|a|an|the|top|one|two|another)\b)", re.I), "continues, resumes"),
    (re.compile(r"\b(tells|told)\b", re.I), "says, returns, reports"),
    (re.compile(r"\bstands\b", re.I), "is, holds, represents, is written"),
    (re.compile(r"\bmeets\b", re.I), "synchronises, reaches, equals"),
    (re.compile(r"(?<!\bin )\bturns?\b(?! (into|on|off|out|to|it|a|an|the|them|red|green)\b)(?! \S+ (on|off|into)\b)(?!-)", re.I), "iteration, round"),
]

# Namespaces and libraries of others. Names with such a scope are not looked up in this repository.
FOREIGN = re.compile(r"(std|absl|llvm|vk|cu|nv|spv|spirv|flatbuffers|google|testing|torch|tf|tflite|onnx|numpy|np|ONNX|aten|ATen|prim|c10|gemmlowp|ruy|xnnpack|isl|H5)")
PATH = re.compile(
    r"(?<![\w./{}<>*-])((?:base|tensor|hal|vm|compiler|frontends|jit|tools|tests|samples|docs|packaging|third_party|bazel|toolchains|visibility)"
    r"/[\w./-]+\.(?:h|cc|c|md|py|sh|txt|case|fbs|proto|mjs|bzl))\b")
MEMBER = re.compile(r"(?<![\w:])([A-Za-z]\w+)::([A-Za-z]\w+)\b(?!::)")
CALL = re.compile(r"(?<![\w:.>%@])([A-Z][a-z0-9]+(?:[A-Z]\w*)+)\(")
FOREIGN_NAMES = {"LoadLibrary", "MultiplyByQuantizedMultiplier", "GetProcAddress", "PyObject", "BitCast"}

# Placeholders in names of files. Recipes (docs/adding) name files that their reader is about to
# write, which do not exist.
PLACEHOLDER = re.compile(r"NAME|vm_name|my_|^My")

IDENTIFIER = re.compile(r"[A-Za-z_]\w*")


# Headers and programs of earlier versions of the C API: they must not change.
FROZEN = "vm/api/testdata/"


class Names:
    """The files and identifiers of the repository."""

    def __init__(self, paths):
        self.paths = set(paths)
        self.identifiers = set()
        for path in paths:
            if path.endswith(".md") or path.endswith((".onnx", ".png", ".npy")):
                continue
            text = read(path)
            self.identifiers.update(IDENTIFIER.findall(without_comments(path, text) if has_comments(path) else text))

    def stale(self, text):
        """Yields what a text names that does not exist."""
        for path in PATH.findall(text):
            if PLACEHOLDER.search(path):
                continue
            # A header that is generated from a schema is not in the repository, but its .fbs file
            # is.
            if path not in self.paths and path.replace("_generated.h", ".fbs") not in self.paths \
                    and not path.endswith((".pb.h", ".pb.cc")):
                yield "no file " + path
        for scope, name in MEMBER.findall(text):
            if FOREIGN.fullmatch(scope):
                continue
            for part in (scope, name):
                if part not in self.identifiers:
                    yield "no %s (of %s::%s) in the code" % (part, scope, name)
        for name in CALL.findall(text):
            if name not in self.identifiers and name not in FOREIGN_NAMES and not PLACEHOLDER.search(name):
                yield "no %s() in the code" % name


def read(path):
    with open(path, encoding="utf-8", errors="replace") as f:
        return f.read()


def problems_of_words(text):
    # Code in backquotes is replaced before the search: names in code may contain words that prose
    # must not.
    text = re.sub(r"`[^`\n]*`", "code", text)
    for pattern, instead in WORDS:
        match = pattern.search(text)
        if match:
            yield '"%s": %s' % (match.group(), instead)


def problems_of_message(text):
    """Yields the problems of a text for users; `text` may be a part of one."""
    words = " ".join(text.split())
    match = FIRST_OF_MESSAGE.search(words)
    if match:
        yield "a sentence begins with " + match.group(1)
    # Flags and paths are replaced before the search: their names may contain words that prose must
    # not.
    yield from problems_of_words(re.sub(r"--[\w-]+|\S*/\S*", "name", words))


def has_messages(path):
    return path.endswith((".cc", ".h")) and not path.endswith("_test.cc") and "/testing/" not in path


def is_fragment(text):
    return FIRST.match(text.strip()) is not None


def paragraphs(text):
    """Yields (line, text, is prose) of the paragraphs of a Markdown page; headings and code are left out."""
    fenced = False
    lines = []
    start = 0
    for number, line in enumerate(text.split("\n") + [""], 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
            line = ""
        item = re.match(r"\s*([-*]|\d+\.) +", line)
        if lines and (not line.strip() or item or line.startswith(("#", "|"))):
            yield start, " ".join(lines), True
            lines = []
        if fenced or not line.strip() or line.startswith(("#", "<")) or (line.startswith("    ") and not lines and not item):
            continue
        if line.startswith("|"):
            yield number, line, False
            continue
        if not lines:
            start = number
        lines.append(line[item.end():] if item else line.strip())


def findings(path, names):
    text = read(path)
    if path.endswith(".md"):
        for line, words, is_prose in paragraphs(text):
            prose = re.sub(r"`[^`]*`", "code", words)
            if is_prose and is_fragment(prose):
                yield line, "begins as a fragment: " + words[:60]
            for problem in problems_of_words(prose):
                yield line, problem
            for problem in names.stale(words):
                yield line, problem
        return
    for block in comment_blocks(path, text):
        if len(block.text.split()) >= 3 and is_fragment(block.text):
            yield block.line, "begins as a fragment: " + block.text.split("\n")[0][:60]
        for problem in problems_of_words(block.text):
            yield block.line, problem
        for problem in names.stale(block.text):
            yield block.line, problem
    if has_messages(path):
        for literal in message_strings(text):
            for problem in problems_of_message(literal.text):
                yield literal.line, "%s: %s" % (problem, " ".join(literal.text.split())[:60])


def blocks_of(paths):
    for path in paths:
        if has_comments(path):
            yield from comment_blocks(path, read(path))


def print_share(paths):
    total, fragments = collections.Counter(), collections.Counter()
    for block in blocks_of(paths):
        if len(block.text.split()) < WORDS_OF_A_SENTENCE:
            continue
        folder = block.path.split("/")[0] if "/" in block.path else "."
        total[folder] += 1
        fragments[folder] += is_fragment(block.text)
    for folder in sorted(total):
        print("%-12s %5d of %5d  %5.1f%%" % (folder, fragments[folder], total[folder], 100 * fragments[folder] / total[folder]))
    print("%-12s %5d of %5d  %5.1f%%" % ("all", sum(fragments.values()), sum(total.values()),
                                       100 * sum(fragments.values()) / max(1, sum(total.values()))))


def print_sample(paths, count, seed):
    blocks = [b for b in blocks_of(paths) if len(b.text.split()) >= WORDS_OF_A_SENTENCE]
    for block in random.Random(seed).sample(blocks, min(count, len(blocks))):
        print("%s:%d\n  %s" % (block.path, block.line, block.text.replace("\n", "\n  ")))
    print("seed %d, %d of %d comments" % (seed, min(count, len(blocks)), len(blocks)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--share", action="store_true", help="print the share of comments that begin as fragments")
    parser.add_argument("--sample", type=int, metavar="N", help="print N comments drawn at random")
    parser.add_argument("--seed", type=int, default=1, help="seeds --sample (default: 1)")
    options = parser.parse_args()
    paths = [p for p in sys.stdin.read().split("\0") if p]
    ours = [p for p in paths if not p.startswith(FROZEN) and (not p.startswith("third_party/") or p.endswith(("BUILD", ".bzl", ".md")))]
    if options.share:
        return print_share(ours)
    if options.sample:
        return print_sample(ours, options.sample, options.seed)
    names = Names(paths)
    bad = 0
    for path in ours:
        if path.endswith(".md") or has_comments(path):
            for line, problem in findings(path, names):
                print("%s:%d: %s" % (path, line, problem))
                bad += 1
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
