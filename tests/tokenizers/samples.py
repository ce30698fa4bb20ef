#!/usr/bin/env python3
"""Makes small tokenizers with known ids, and compares ours with other libraries on random texts.

    apt-get install python3-sentencepiece; npm install --ignore-scripts @huggingface/tokenizers
    tests/tokenizers/samples.py make                # writes llm/tokenizer/testdata/*.json
    bazel build //llm/tokenizer:tokenize
    tests/tokenizers/samples.py compare --texts=500 --seed=1

The vocabularies are trained on the sentences below: SentencePiece trains unigram and scored byte pairs, and a few lines
here train byte-level pairs. Each sample is an object with "tokenizer" (a tokenizer.json) or "pieces" (those of a
SentencePiece model: text, score, kind), and "cases": texts with their ids. Expected ids are those of SentencePiece, or of
@huggingface/tokenizers, which must be installed in the folder where this runs, or in --modules=FOLDER.
"""

import argparse
import base64
import collections
import json
import os
import random
import re
import subprocess
import sys
import tempfile

import sentencepiece

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
DATA = os.path.join(ROOT, "llm/tokenizer/testdata")
TOOL = os.path.join(ROOT, "bazel-bin/llm/tokenizer/tokenize")

SENTENCES = [
    "The quick brown fox jumps over the lazy dog, and the dog doesn't mind.",
    "A model reads tokens; it doesn't read words. Tokens are parts of words: 'token' and 'tokens' share one.",
    "In 2026 there were 1234567 readers, 42 writers and 3.14159 pies.",
    "Numbers like 10, 100, 1000 and 10000 end with zeros.",
    "El niño comió una manzana; después bebió agua fría.",
    "Die Straße führt über die Brücke, größer als früher.",
    "Le garçon a mangé une pomme à l'école, n'est-ce pas?",
    "Привет, мир! Как дела? Хорошо, спасибо.",
    "我想在这里工作，今天天气很好。你好，世界！",
    "東京は日本の首都です。こんにちは。",
    "안녕하세요, 세계!",
    "def main(argc, argv):\n    for i in range(10):\n        print(i, argv[i])\n    return 0",
    "if (x == 0) { return y[0]; } else { return -1; }  // done",
    "The reader reads the readme, rereads it, and then writes the writer's reading list.",
    "She'll say they're here; we've seen it, I'd think, and I'm sure he'll agree. WE'LL SEE.",
    "Straße, Ärger, ﬁre and ﬂow, ①②③, Ｆｕｌｌ ｗｉｄｔｈ, x² and ½.",
]

TEXTS = SENTENCES + [
    "", " ", "  ", "   a", "a   ", "a  b   c", "\n", "\n\n", "\t\t x", "a\r\nb\r\n\r\nc", "Hello world", " Hello World!",
    "don't DON'T Don'T we'll", "3 33 333 3333 33333 1,234.5", "😀 emoji 👨‍👩‍👧 e\u0301 é", "x<s>y</s>z <unk> [CLS] <|im_end|>",
    "a\u00a0b\u2003c\u3000d", "\u200b\ufeff\u0000end", "ab_cd-ef/gh\\ij", "zzzzqqqq ÿþ", "▁under▁score ▁", "İstanbul ǅ ß SS",
    "...!!!???", "((([[[{{{", "  indented\n    more\n", "mixed中文and日本語text", "ก่อน हिन्दी العربية",
]

GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
CONTRACTIONS = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
SPACES = r"\s*[\r\n]+|\s+(?!\S)|\s+"
LLAMA3 = CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|" + SPACES
QWEN2 = CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|" + SPACES


def byte_characters():
    """Returns the character by which GPT-2 writes each byte."""
    visible = list(range(0x21, 0x7F)) + list(range(0xA1, 0xAD)) + list(range(0xAE, 0x100))
    result, n = {b: chr(b) for b in visible}, 0
    for b in range(256):
        if b not in result:
            result[b] = chr(256 + n)
            n += 1
    return result


def train_byte_pairs(words, merges):
    """Returns the merges of byte-pair encoding, most frequent pair first; words maps tuples of symbols to counts."""
    result = []
    words = dict(words)
    while len(result) < merges:
        pairs = collections.Counter()
        for word, count in words.items():
            for pair in zip(word, word[1:]):
                pairs[pair] += count
        if not pairs:
            break
        best = max(sorted(pairs), key=lambda p: pairs[p])
        result.append(best)
        joined = {}
        for word, count in words.items():
            new, i = [], 0
            while i < len(word):
                if word[i : i + 2] == best:
                    new.append(word[i] + word[i + 1])
                    i += 2
                else:
                    new.append(word[i])
                    i += 1
            joined[tuple(new)] = joined.get(tuple(new), 0) + count
        words = joined
    return result


def split_words(text):
    """Splits roughly as GPT-2 does; only for training."""
    return re.findall(r" ?[^\W\d_]+| ?\d| ?[^\s\w]+|\s+", text)


def byte_level(pattern, special, **model):
    """Returns the tokenizer.json of byte-level pairs."""
    characters = byte_characters()
    words = collections.Counter()
    for sentence in SENTENCES:
        for word in split_words(sentence):
            words[tuple(characters[b] for b in word.encode())] += 1
    merges = train_byte_pairs(words, 300)
    tokens = [characters[b] for b in range(256)] + [a + b for a, b in merges]
    vocab = {}
    for token in tokens:
        vocab.setdefault(token, len(vocab))
    added = [{"id": len(vocab) + i, "content": text, "special": is_special, "single_word": False, "lstrip": False,
              "rstrip": False, "normalized": False} for i, (text, is_special) in enumerate(special)]
    pre_tokenizer = {"type": "Sequence", "pretokenizers": [
        {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False},
        {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}]}
    return {"version": "1.0", "added_tokens": added, "normalizer": {"type": "NFC"}, "pre_tokenizer": pre_tokenizer,
            "post_processor": {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False, "use_regex": False},
            "decoder": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
            "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": "",
                      "end_of_word_suffix": "", "fuse_unk": False, "byte_fallback": False, "vocab": vocab,
                      "merges": ["%s %s" % m for m in merges], **model}}


def llama2():
    """Returns the tokenizer.json of byte pairs on characters, with bytes for what is missing."""
    words = collections.Counter()
    for sentence in SENTENCES:
        for word in sentence.replace(" ", " ▁").split(" "):
            words[tuple(word)] += 1
    merges = train_byte_pairs(words, 250)
    tokens = ["<unk>", "<s>", "</s>"] + ["<0x%02X>" % b for b in range(256)]
    tokens += sorted({c for word in words for c in word if c < "\u2000" or c == "▁"}) + [a + b for a, b in merges]
    vocab = {}
    for token in tokens:
        vocab.setdefault(token, len(vocab))
    merges = [m for m in merges if m[0] in vocab and m[1] in vocab]
    added = [{"id": i, "content": t, "special": True, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
             for i, t in enumerate(tokens[:3])]
    return {"version": "1.0", "added_tokens": added,
            "normalizer": {"type": "Sequence", "normalizers": [
                {"type": "Prepend", "prepend": "▁"}, {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}]},
            "pre_tokenizer": None,
            "post_processor": {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {
                "id": "A", "type_id": 0}}], "pair": [], "special_tokens": {"<s>": {"id": "<s>", "ids": [1], "tokens": ["<s>"]}}},
            "decoder": {"type": "Sequence", "decoders": [
                {"type": "Replace", "pattern": {"String": "▁"}, "content": " "}, {"type": "ByteFallback"}, {"type": "Fuse"},
                {"type": "Strip", "content": " ", "start": 1, "stop": 0}]},
            "model": {"type": "BPE", "dropout": None, "unk_token": "<unk>", "continuing_subword_prefix": None,
                      "end_of_word_suffix": None, "fuse_unk": True, "byte_fallback": True, "vocab": vocab,
                      "merges": ["%s %s" % m for m in merges]}}


def word_piece():
    """Returns the tokenizer.json of a BERT-like model."""
    tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    words = collections.Counter(re.findall(r"[^\W\d_]+", " ".join(SENTENCES).lower()))
    letters = sorted({c for s in SENTENCES for c in s.lower() if c.isascii() and not c.isspace()})
    tokens += letters + ["##" + c for c in letters] + [w for w, n in words.items() if n > 1 and w.isascii()]
    tokens += ["##ing", "##er", "##ers", "##s", "read", "writ", "##e", "我", "在", "nino", "##n", "strasse", "##raße"]
    vocab = {}
    for token in tokens:
        vocab.setdefault(token, len(vocab))
    added = [{"id": i, "content": t, "special": True, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
             for i, t in enumerate(tokens[:5])]
    special = {t: {"id": t, "ids": [vocab[t]], "tokens": [t]} for t in ("[CLS]", "[SEP]")}
    return {"version": "1.0", "added_tokens": added,
            "normalizer": {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "strip_accents": None,
                           "lowercase": True},
            "pre_tokenizer": {"type": "BertPreTokenizer"},
            "post_processor": {"type": "TemplateProcessing", "single": [
                {"SpecialToken": {"id": "[CLS]", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}},
                {"SpecialToken": {"id": "[SEP]", "type_id": 0}}], "pair": [], "special_tokens": special},
            "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": False},
            "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100,
                      "vocab": vocab}}


def sentence_piece(kind, byte_fallback):
    """Trains a SentencePiece model; returns its processor and its serialized form."""
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "rules.tsv"), "w", encoding="utf-8") as f:
            for old, new in (("ﬁ", "fi"), ("①", "1"), ("②", "2"), ("Ｆ", "F"), ("e\u0301", "é"), ("\t", " "), ("\n", " "), ("…", "...")):
                f.write("%s\t%s\n" % (" ".join("%X" % ord(c) for c in old), " ".join("%X" % ord(c) for c in new)))
        with open(os.path.join(folder, "text"), "w", encoding="utf-8") as f:
            f.write("\n".join(s.replace("\n", " ") for s in SENTENCES * 3))
        options = {"normalization_rule_tsv": os.path.join(folder, "rules.tsv")} if kind == "unigram" else {
            "normalization_rule_name": "identity", "remove_extra_whitespaces": False}
        sentencepiece.SentencePieceTrainer.train(
            input=os.path.join(folder, "text"), model_prefix=os.path.join(folder, "m"), model_type=kind,
            vocab_size=720 if byte_fallback else 420, character_coverage=0.98, byte_fallback=byte_fallback, hard_vocab_limit=False,
            minloglevel=2, **options)
        with open(os.path.join(folder, "m.model"), "rb") as f:
            blob = f.read()
    processor = sentencepiece.SentencePieceProcessor()
    processor.LoadFromSerializedProto(blob)
    return processor, blob


def pieces_of(processor):
    """Returns text, score and kind of each piece; the kinds are those of GGUF files."""
    rows = []
    for i in range(processor.GetPieceSize()):
        kind = 2 if processor.IsUnknown(i) else 3 if processor.IsControl(i) else 6 if processor.IsByte(i) else 1
        rows.append([processor.IdToPiece(i), processor.GetScore(i), kind])
    return rows


def field(blob, number):
    """Returns the bytes of the last field of this number in a serialized protocol buffer."""
    at, found = 0, b""

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = blob[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(blob):
        key = varint()
        if key & 7 == 0:
            varint()
        elif key & 7 == 5:
            at += 4
        elif key & 7 == 1:
            at += 8
        else:
            size = varint()
            if key >> 3 == number:
                found = blob[at : at + size]
            at += size
    return found


def unigram():
    """Returns the tokenizer.json of a unigram model, and its processor."""
    processor, blob = sentence_piece("unigram", False)
    charsmap = field(field(blob, 3), 2)
    rows = pieces_of(processor)
    return {"version": "1.0",
            "added_tokens": [{"id": i, "content": rows[i][0], "special": True, "single_word": False, "lstrip": False, "rstrip": False,
                              "normalized": False} for i in range(3)],
            "normalizer": {"type": "Sequence", "normalizers": [
                {"type": "Precompiled", "precompiled_charsmap": base64.b64encode(charsmap).decode()},
                {"type": "Strip", "strip_left": True, "strip_right": True},
                {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "}]},
            "pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": False},
            "post_processor": None,
            "decoder": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": False},
            "model": {"type": "Unigram", "unk_id": 0, "vocab": [r[:2] for r in rows], "byte_fallback": False}}, processor


SCRIPT = """
import fs from "fs";
import { createRequire } from "module";
const require = createRequire(process.argv[2] + "/x.js");
const { Tokenizer } = require("@huggingface/tokenizers");
const input = JSON.parse(fs.readFileSync(0, "utf-8"));
const tokenizer = new Tokenizer(input.tokenizer, {});
console.log(JSON.stringify(input.texts.map((t) => Array.from(tokenizer.encode(t, { add_special_tokens: false }).ids, Number))));
"""


def ids_of_npm(tokenizer, texts, modules):
    with tempfile.NamedTemporaryFile("w", suffix=".mjs") as f:
        f.write(SCRIPT)
        f.flush()
        done = subprocess.run(["node", f.name, os.path.abspath(modules)], stdout=subprocess.PIPE, check=True,
                              input=json.dumps({"tokenizer": tokenizer, "texts": texts}).encode())
    return json.loads(done.stdout)


CHAT = [("<|im_start|>", True), ("<|im_end|>", True), ("<tool>", False)]


def samples(modules):
    """Yields name, sample and a function from texts to expected ids."""
    for name, tokenizer in (
            ("qwen2", byte_level(QWEN2, CHAT)), ("llama3", byte_level(LLAMA3, CHAT, ignore_merges=True)),
            ("gpt2", byte_level(GPT2, [("<|endoftext|>", True)])), ("llama2", llama2()), ("wordpiece", word_piece())):
        yield name, {"tokenizer": tokenizer}, lambda texts, t=tokenizer: ids_of_npm(t, texts, modules)
    tokenizer, processor = unigram()
    yield "unigram", {"tokenizer": tokenizer}, lambda texts, p=processor: [p.EncodeAsIds(t) for t in texts]
    processor, _ = sentence_piece("bpe", True)
    yield "sentencepiece_bpe", {"pieces": pieces_of(processor)}, lambda texts, p=processor: [p.EncodeAsIds(t) for t in texts]


def known_texts(name, texts):
    """Returns the texts that the other library and the tool can take."""
    if name == "unigram":
        # The tokenizer.json strips other white space and keeps "▁", which SentencePiece takes for a space.
        return [t for t in texts if not re.search("[\u0000\r\u3000\u2003\u00a0▁]", t)]
    return [t for t in texts if "\u0000" not in t]


def make(arguments):
    os.makedirs(DATA, exist_ok=True)
    for name, sample, expected in samples(arguments.modules):
        texts = known_texts(name, TEXTS)
        sample["cases"] = [{"text": t, "ids": i} for t, i in zip(texts, expected(texts))]
        with open(os.path.join(DATA, name + ".json"), "w", encoding="utf-8") as f:
            json.dump(sample, f, ensure_ascii=False, separators=(",", ":"))
            f.write("\n")
        print("%s: %d cases" % (name, len(texts)))


def random_text(rng):
    """Joins parts of the texts, and characters that splits look at."""
    parts = []
    for _ in range(rng.randrange(1, 12)):
        if rng.random() < 0.5:
            text = rng.choice(TEXTS)
            begin = rng.randrange(len(text) + 1)
            parts.append(text[begin : begin + rng.randrange(1, 20)])
        else:
            parts.append("".join(rng.choice("  \n\r\t'sSTtdDlLvVeE019aZé中Ǆ²½_-.,!😀\u0301\u00a0") for _ in range(rng.randrange(1, 6))))
    return "".join(parts)


def compare(arguments):
    rng = random.Random(arguments.seed)
    failed = False
    for name, sample, expected in samples(arguments.modules):
        if "tokenizer" not in sample:
            continue
        texts = known_texts(name, [random_text(rng) for _ in range(arguments.texts)])
        want = expected(texts)
        with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as f:
            json.dump(sample["tokenizer"], f, ensure_ascii=False)
            f.flush()
            # The npm library always reads special tokens in a text, and SentencePiece never does.
            flags = [] if name == "unigram" else ["--parse-special"]
            done = subprocess.run([arguments.tool, f.name] + flags, stdout=subprocess.PIPE, check=True,
                                  input="\0".join(texts).encode())
        found = [[int(n) for n in line.split()] for line in done.stdout.decode().split("\n")[: len(texts)]]
        bad = [i for i in range(len(texts)) if want[i] != found[i]]
        for i in bad[:5]:
            print("%s: %r\n  expected %s\n  found    %s" % (name, texts[i], want[i], found[i]))
        print("%s: %d of %d texts agree (seed %d)" % (name, len(texts) - len(bad), len(texts), arguments.seed))
        failed |= bool(bad)
    sys.exit(1 if failed else 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=("make", "compare"))
    parser.add_argument("--modules", default=".", help="The folder with node_modules.")
    parser.add_argument("--tool", default=TOOL)
    parser.add_argument("--texts", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    (make if arguments.command == "make" else compare)(arguments)


if __name__ == "__main__":
    main()
