#!/usr/bin/env python3
"""Writes a small GGUF file of an architecture with random weights.

usage: random_gguf.py OUT.gguf [--architecture llama] [--type Q4_0] [--seed 1] [--variant NAME] [--only-embedding] [--tiny] [--list]
       random_gguf.py OUT.gguf --shape 0.5b|1b [--architecture llama] [--type Q4_0]

With --shape the file has the sizes of a real model, for measuring speed (tools/language_model_speed.py); its weights repeat. The other
files are for comparing results with llama.cpp (tools/compare_llama.py) and with recorded numbers (tests/gguf). Weights are so
large that distributions are sharp. The vocabulary holds placeholders. --list prints the architectures, types and variants.
"""

import argparse
import math
import random
import struct
import sys

U32, I32, F32, BOOL, STRING, ARRAY = 4, 5, 6, 7, 8, 9

# For each block type of GGUF: its number, the bytes and elements of a block, and the f16 numbers in a block, each with
# its offset and the factor of the standard deviation that it is set to. All other bytes of a block are random.
BLOCKS = {
    "Q4_0": (2, 18, 32, [(0, 1 / 4.7)]),
    "Q4_1": (3, 20, 32, [(0, 1 / 4.6), (2, -7.5 / 4.6)]),
    "Q5_0": (6, 22, 32, [(0, 1 / 9.3)]),
    "Q5_1": (7, 24, 32, [(0, 1 / 9.3), (2, -15.5 / 9.3)]),
    "Q8_0": (8, 34, 32, [(0, 1 / 74)]),
    "Q2_K": (10, 84, 256, [(80, 1 / 14), (82, 1.5 / 14)]),
    "Q3_K": (11, 110, 256, [(108, 1 / 43)]),
    "Q4_K": (12, 144, 256, [(0, 1 / 240), (2, 7.5 / 240)]),
    "Q5_K": (13, 176, 256, [(0, 1 / 480), (2, 15.5 / 480)]),
    "Q6_K": (14, 210, 256, [(208, 1 / 1370)]),
    "IQ4_NL": (20, 18, 32, [(0, 1 / 70)]),
    "IQ4_XS": (23, 136, 256, [(0, 1 / 1300)]),
}
FLOATS = {"F32": 0, "F16": 1, "BF16": 30}
MXFP4 = (39, 17, 32)
TYPES = [*FLOATS, *BLOCKS, "MXFP4"]


def text(value):
    data = value.encode()
    return struct.pack("<Q", len(data)) + data


def scalar(kind, value):
    if kind == STRING:
        return text(value)
    return struct.pack({U32: "<I", I32: "<i", F32: "<f", BOOL: "<?"}[kind], value)


def entry(key, kind, value):
    return text(key) + struct.pack("<I", kind) + scalar(kind, value)


def array(key, kind, values):
    return text(key) + struct.pack("<IIQ", ARRAY, kind, len(values)) + b"".join(scalar(kind, v) for v in values)


# Sizes of real models: width, width of the feed-forward layer, query heads, key
# heads, elements of a head, layers.
SHAPES = {"0.5b": (896, 4864, 14, 2, 64, 24), "1b": (2048, 8192, 32, 8, 64, 16)}
# Random numbers repeat after this number of elements, because making billions
# of them would take long.
PERIOD = 1 << 20


def floats(rng, kind, count, sigma, mean=0.0):
    if count > PERIOD:
        part = floats(rng, kind, PERIOD, sigma, mean)
        size = len(part) // PERIOD * count
        return (part * (count // PERIOD + 1))[:size]
    values = [rng.gauss(mean, sigma) for _ in range(count)]
    if kind == "BF16":
        return b"".join(struct.pack("<f", v)[2:] for v in values)
    return struct.pack("<%d%s" % (count, "e" if kind == "F16" else "f"), *values)


def blocks(rng, kind, count, sigma):
    if count > PERIOD:
        part = blocks(rng, kind, PERIOD, sigma)
        size = len(part) * count // PERIOD
        return (part * (count // PERIOD + 1))[:size]
    if kind == "MXFP4":
        _, size, elements = MXFP4
        exponent = 128 + round(math.log2(sigma / 6))
        return b"".join(bytes([exponent]) + rng.randbytes(size - 1) for _ in range(count // elements))
    _, size, elements, halves = BLOCKS[kind]
    data = bytearray()
    for _ in range(count // elements):
        block = bytearray(rng.randbytes(size))
        for at, factor in halves:
            block[at:at + 2] = struct.pack("<e", sigma * factor)
        data += block
    return bytes(data)


class Model:
    """A file's metadata and tensors."""

    def __init__(self, arguments):
        self.kind = arguments.type
        self.only_embedding = arguments.only_embedding
        self.rng = random.Random(arguments.seed)
        self.name = arguments.architecture
        self.metadata, self.tensors = [], []
        self.width, self.hidden, self.heads, self.kv_heads, self.head, self.vocabulary = 256, 512, 4, 2, 64, 320
        self.layers = 2
        if arguments.tiny:
            self.width, self.hidden, self.heads, self.kv_heads, self.head, self.vocabulary = 32, 64, 2, 1, 16, 264
        self.context = 512
        if arguments.shape:
            self.width, self.hidden, self.heads, self.kv_heads, self.head, self.layers = SHAPES[arguments.shape]
            self.vocabulary, self.context = 32000, 2048

    def put(self, key, kind, value):
        self.metadata.append(entry("%s.%s" % (self.name, key), kind, value))

    def matrix(self, name, rows, columns, gain=1.0, kind=None, experts=0):
        count = rows * columns * max(experts, 1)
        sigma = gain / math.sqrt(columns)
        kind = kind or (self.kind if not self.only_embedding or name == "token_embd.weight" else "F32")
        data = floats(self.rng, kind, count, sigma) if kind in FLOATS else blocks(self.rng, kind, count, sigma)
        number = FLOATS[kind] if kind in FLOATS else MXFP4[0] if kind == "MXFP4" else BLOCKS[kind][0]
        self.tensors.append((name, number, ([experts] if experts else []) + [rows, columns], data))

    def vector(self, name, count, mean=0.0, sigma=0.1, dims=None):
        self.tensors.append((name, 0, dims or [count], floats(self.rng, "F32", count, sigma, mean)))

    def norm(self, name, size=None, bias=False):
        self.vector(name + ".weight", size or self.width, mean=1.0)
        if bias:
            self.vector(name + ".bias", size or self.width)

    def linear(self, name, rows, columns, bias=False, gain=1.0):
        self.matrix(name + ".weight", rows, columns, gain)
        if bias:
            self.vector(name + ".bias", rows)

    def bytes(self):
        info, parts, at = b"", [], 0
        for name, number, dims, payload in self.tensors:
            info += text(name) + struct.pack("<I", len(dims)) + b"".join(struct.pack("<Q", d) for d in reversed(dims))
            info += struct.pack("<IQ", number, at)
            parts.append(payload + b"\0" * (-len(payload) % 32))
            at += len(parts[-1])
        data = b"".join(parts)
        head = b"GGUF" + struct.pack("<IQQ", 3, len(self.tensors), len(self.metadata)) + b"".join(self.metadata) + info
        return head + b"\0" * (-len(head) % 32) + data


def common(m, layer_norm=False):
    m.metadata.append(entry("general.architecture", STRING, m.name))
    m.metadata.append(entry("general.name", STRING, "random " + m.name))
    m.put("context_length", U32, m.context)
    m.put("embedding_length", U32, m.width)
    m.put("block_count", U32, m.layers)
    m.put("feed_forward_length", U32, m.hidden)
    m.put("attention.head_count", U32, m.heads)
    if m.name != "lfm2":
        m.put("attention.head_count_kv", U32, m.kv_heads)
    m.put("vocab_size", U32, m.vocabulary)
    key = "attention.layer_norm_epsilon" if layer_norm else "attention.layer_norm_rms_epsilon"
    m.put(key, F32, 1e-5)


def vocabulary(m):
    tokens = ["<unk>", "<s>", "</s>"] + ["<0x%02X>" % i for i in range(256)]
    kinds = [2, 3, 3] + [6] * 256
    tokens += ["\u2581w%d" % i for i in range(m.vocabulary - len(tokens))]
    kinds += [1] * (m.vocabulary - len(kinds))
    # llama.cpp requires that the vocabulary of Phi-3 has this token.
    tokens[-1] = "<|endoftext|>"
    m.metadata.append(entry("tokenizer.ggml.model", STRING, "llama"))
    m.metadata.append(array("tokenizer.ggml.tokens", STRING, tokens))
    m.metadata.append(array("tokenizer.ggml.scores", F32, [0.0] * m.vocabulary))
    m.metadata.append(array("tokenizer.ggml.token_type", I32, kinds))
    m.metadata.append(entry("tokenizer.ggml.bos_token_id", U32, 1))
    m.metadata.append(entry("tokenizer.ggml.eos_token_id", U32, 2))


def rope(m, dims=None, base=10000.0):
    m.put("rope.dimension_count", U32, dims or m.head)
    m.put("rope.freq_base", F32, base)


def head_sizes(m):
    m.put("attention.key_length", U32, m.head)
    m.put("attention.value_length", U32, m.head)


def embedding(m, tied):
    m.matrix("token_embd.weight", m.vocabulary, m.width, gain=3.0 if tied else math.sqrt(m.width))
    if not tied:
        m.matrix("output.weight", m.vocabulary, m.width, gain=3.0)


def attention(m, b, bias=False, out_bias=False, fused=False, qk_norm=False):
    q, k = m.heads * m.head, m.kv_heads * m.head
    if fused:
        m.linear(b + "attn_qkv", q + 2 * k, m.width, bias)
    else:
        for part, rows in (("q", q), ("k", k), ("v", k)):
            m.linear(b + "attn_" + part, rows, m.width, bias, gain=1.0 if part == "v" else 1.5)
    if qk_norm:
        m.norm(b + "attn_q_norm", m.head)
        m.norm(b + "attn_k_norm", m.head)
    m.linear(b + "attn_output", m.width, q, out_bias)


def gated(m, b):
    m.linear(b + "ffn_gate", m.hidden, m.width)
    m.linear(b + "ffn_down", m.width, m.hidden)
    m.linear(b + "ffn_up", m.hidden, m.width)


def experts(m, b, count):
    m.matrix(b + "ffn_gate_inp.weight", count, m.width, gain=2.0, kind="F32")
    for part, rows, columns in (("gate", m.hidden, m.width), ("down", m.width, m.hidden), ("up", m.hidden, m.width)):
        m.matrix(b + "ffn_%s_exps.weight" % part, rows, columns, experts=count)


def each_layer(m):
    return ["blk.%d." % i for i in range(m.layers)]


def llama(m, variant):
    common(m)
    dims = m.head
    rope(m, dims)
    if variant == "linear":
        m.put("rope.scaling.type", STRING, "linear")
        m.put("rope.scaling.factor", F32, 4.0)
    if variant == "yarn":
        m.put("rope.scaling.type", STRING, "yarn")
        m.put("rope.scaling.factor", F32, 4.0)
        m.put("rope.scaling.original_context_length", U32, 128)
    if variant == "moe":
        m.put("expert_count", U32, 4)
        m.put("expert_used_count", U32, 2)
    vocabulary(m)
    embedding(m, tied=variant == "tied")
    m.norm("output_norm")
    if variant == "factors":
        m.vector("rope_freqs.weight", dims // 2, mean=3.0, sigma=1.0)
    for b in each_layer(m):
        m.norm(b + "attn_norm")
        attention(m, b, bias=variant == "bias", out_bias=variant == "bias")
        m.norm(b + "ffn_norm")
        if variant == "moe":
            experts(m, b, 4)
        else:
            gated(m, b)


def qwen2(m, _):
    common(m)
    rope(m, base=1000000.0)
    vocabulary(m)
    embedding(m, tied=False)
    m.norm("output_norm")
    for b in each_layer(m):
        m.norm(b + "attn_norm")
        attention(m, b, bias=True)
        m.norm(b + "ffn_norm")
        gated(m, b)


def qwen3(m, _):
    common(m)
    head_sizes(m)
    rope(m, base=1000000.0)
    vocabulary(m)
    embedding(m, tied=True)
    m.norm("output_norm")
    for b in each_layer(m):
        m.norm(b + "attn_norm")
        attention(m, b, qk_norm=True)
        m.norm(b + "ffn_norm")
        gated(m, b)


def qwen2moe(m, _):
    common(m)
    rope(m)
    m.put("expert_count", U32, 4)
    m.put("expert_used_count", U32, 2)
    m.put("expert_feed_forward_length", U32, m.hidden)
    m.put("expert_shared_feed_forward_length", U32, m.hidden)
    vocabulary(m)
    embedding(m, tied=False)
    m.norm("output_norm")
    for b in each_layer(m):
        m.norm(b + "attn_norm")
        attention(m, b, bias=True)
        m.norm(b + "ffn_norm")
        experts(m, b, 4)
        m.vector(b + "ffn_gate_inp_shexp.weight", m.width)
        for part, rows, columns in (("gate", m.hidden, m.width), ("down", m.width, m.hidden), ("up", m.hidden, m.width)):
            m.linear(b + "ffn_%s_shexp" % part, rows, columns)


def qwen3moe(m, _):
    common(m)
    head_sizes(m)
    rope(m)
    m.put("expert_count", U32, 4)
    m.put("expert_used_count", U32, 2)
    m.put("expert_feed_forward_length", U32, m.hidden)
    vocabulary(m)
    embedding(m, tied=False)
    m.norm("output_norm")
    for b in each_layer(m):
        m.norm(b + "attn_norm")
        attention(m, b, qk_norm=True)
        m.norm(b + "ffn_norm")
        experts(m, b, 4)


def gemma(m, _):
    generation = {"gemma": 1, "gemma2": 2, "gemma3": 3}[m.name]
    if generation == 3:
        m.layers = 7
    if generation == 2:
        m.layers = 3
    common(m)
    head_sizes(m)
    rope(m, base=1000000.0 if generation == 3 else 10000.0)
    if generation == 2:
        m.put("attn_logit_softcapping", F32, 20.0)
        m.put("final_logit_softcapping", F32, 15.0)
    if generation > 1:
        m.put("attention.sliding_window", U32, 8)
    if generation == 3:
        m.put("rope.scaling.type", STRING, "linear")
        m.put("rope.scaling.factor", F32, 8.0)
    vocabulary(m)
    m.matrix("token_embd.weight", m.vocabulary, m.width, gain=0.7)
    m.norm("output_norm")
    for b in each_layer(m):
        m.norm(b + "attn_norm")
        attention(m, b, qk_norm=generation == 3)
        if generation > 1:
            m.norm(b + "post_attention_norm")
        m.norm(b + "ffn_norm")
        gated(m, b)
        if generation > 1:
            m.norm(b + "post_ffw_norm")


def phi3(m, variant):
    common(m)
    rope(m)
    if variant == "longrope":
        m.put("rope.scaling.original_context_length", U32, 256)
        m.put("rope.scaling.attn_factor", F32, 1.19)
    vocabulary(m)
    embedding(m, tied=False)
    m.norm("output_norm")
    if variant == "longrope":
        m.vector("rope_factors_long.weight", m.head // 2, mean=4.0, sigma=1.0)
        m.vector("rope_factors_short.weight", m.head // 2, mean=1.5, sigma=0.2)
    for b in each_layer(m):
        m.norm(b + "attn_norm")
        attention(m, b, fused=True)
        m.norm(b + "ffn_norm")
        m.linear(b + "ffn_down", m.width, m.hidden)
        m.linear(b + "ffn_up", 2 * m.hidden, m.width)


def gpt2(m, _):
    m.kv_heads = m.heads
    m.head = m.width // m.heads
    common(m, layer_norm=True)
    vocabulary(m)
    m.matrix("token_embd.weight", m.vocabulary, m.width, gain=3.0)
    m.matrix("position_embd.weight", 512, m.width, gain=2.0, kind="F32")
    m.norm("output_norm", bias=True)
    for b in each_layer(m):
        m.norm(b + "attn_norm", bias=True)
        attention(m, b, bias=True, out_bias=True, fused=True)
        m.norm(b + "ffn_norm", bias=True)
        m.linear(b + "ffn_up", m.hidden, m.width, bias=True)
        m.linear(b + "ffn_down", m.width, m.hidden, bias=True)


def falcon(m, variant):
    common(m, layer_norm=True)
    rope(m)
    vocabulary(m)
    embedding(m, tied=False)
    m.norm("output_norm", bias=True)
    for b in each_layer(m):
        m.norm(b + "attn_norm", bias=True)
        if variant == "two_norms":
            m.norm(b + "attn_norm_2", bias=True)
        attention(m, b, fused=True)
        m.linear(b + "ffn_down", m.width, m.hidden)
        m.linear(b + "ffn_up", m.hidden, m.width)


def stablelm(m, variant):
    common(m, layer_norm=True)
    rope(m, dims=m.head // 4)
    m.put("use_parallel_residual", BOOL, variant == "parallel")
    vocabulary(m)
    embedding(m, tied=False)
    m.norm("output_norm", bias=True)
    for b in each_layer(m):
        m.norm(b + "attn_norm", bias=True)
        attention(m, b, bias=variant != "parallel")
        if variant == "parallel":
            for part, heads in (("q", m.heads), ("k", m.kv_heads)):
                m.vector(b + "attn_%s_norm.weight" % part, heads * m.head, mean=1.0, dims=[heads, m.head])
        else:
            m.norm(b + "ffn_norm", bias=True)
        gated(m, b)


def bert(m, _):
    m.kv_heads = m.heads
    m.head = m.width // m.heads
    common(m, layer_norm=True)
    m.put("attention.causal", BOOL, False)
    m.put("pooling_type", U32, 1)
    vocabulary(m)
    m.metadata.append(entry("tokenizer.ggml.token_type_count", U32, 2))
    m.matrix("token_embd.weight", m.vocabulary, m.width, gain=16.0)
    m.matrix("token_types.weight", 2, m.width, gain=2.0, kind="F32")
    m.norm("token_embd_norm", bias=True)
    if m.name == "bert":
        m.matrix("position_embd.weight", 512, m.width, gain=2.0, kind="F32")
    else:
        m.put("rope.freq_base", F32, 1000.0)
    for b in each_layer(m):
        plain = m.name == "bert"
        attention(m, b, bias=plain, out_bias=plain, fused=not plain)
        m.norm(b + "attn_output_norm", bias=True)
        m.linear(b + "ffn_up", m.hidden, m.width, bias=plain)
        if not plain:
            m.linear(b + "ffn_gate", m.hidden, m.width)
        m.linear(b + "ffn_down", m.width, m.hidden, bias=plain)
        m.norm(b + "layer_output_norm", bias=True)


def lfm2(m, _):
    m.layers = 4
    common(m)
    rope(m, base=1000000.0)
    kv = [0, m.kv_heads, 0, m.kv_heads]
    m.metadata.append(array("lfm2.attention.head_count_kv", I32, kv))
    m.put("shortconv.l_cache", U32, 3)
    vocabulary(m)
    m.matrix("token_embd.weight", m.vocabulary, m.width, gain=3.0)
    m.norm("token_embd_norm")
    for i, b in enumerate(each_layer(m)):
        m.norm(b + "attn_norm")
        if kv[i]:
            attention(m, b, qk_norm=True)
        else:
            m.linear(b + "shortconv.in_proj", 3 * m.width, m.width)
            m.vector(b + "shortconv.conv.weight", m.width * 3, sigma=0.5, dims=[m.width, 3])
            m.linear(b + "shortconv.out_proj", m.width, m.width)
        m.norm(b + "ffn_norm")
        gated(m, b)


# For each architecture: the function that writes it, and its variants besides
# the default one ("").
ARCHITECTURES = {
    "llama": (llama, ["linear", "yarn", "factors", "bias", "tied", "moe"]),
    "qwen2": (qwen2, []),
    "qwen3": (qwen3, []),
    "qwen2moe": (qwen2moe, []),
    "qwen3moe": (qwen3moe, []),
    "gemma": (gemma, []),
    "gemma2": (gemma, []),
    "gemma3": (gemma, []),
    "phi3": (phi3, ["longrope"]),
    "gpt2": (gpt2, []),
    "falcon": (falcon, ["two_norms"]),
    "stablelm": (stablelm, ["parallel"]),
    "bert": (bert, []),
    "nomic-bert": (bert, []),
    "lfm2": (lfm2, []),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("out", nargs="?")
    parser.add_argument("--architecture", default="llama", choices=list(ARCHITECTURES))
    parser.add_argument("--type", default="F32", choices=TYPES)
    parser.add_argument("--variant", default="")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only-embedding", action="store_true", help="other weights than the embedding are F32")
    parser.add_argument("--tiny", action="store_true", help="the smallest dims, for files in the repository")
    parser.add_argument("--shape", choices=list(SHAPES), help="the sizes of a real model")
    parser.add_argument("--list", action="store_true")
    arguments = parser.parse_args()
    if arguments.list:
        for name, (_, variants) in ARCHITECTURES.items():
            print(name, *variants)
        print("types:", *TYPES)
        return 0
    build, variants = ARCHITECTURES[arguments.architecture]
    if arguments.variant and arguments.variant not in variants:
        parser.error("--variant: expected one of %s, found '%s'" % (", ".join(variants) or "none", arguments.variant))
    if not arguments.out:
        parser.error("expected a file to write")
    model = Model(arguments)
    build(model, arguments.variant)
    with open(arguments.out, "wb") as file:
        file.write(model.bytes())
    return 0


if __name__ == "__main__":
    sys.exit(main())
