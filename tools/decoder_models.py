#!/usr/bin/python3
"""Writes decoders of a language model as ONNX files whose weights are blocks of 4 or 8 bits, as ONNX Runtime's builder of models does.

usage: decoder_models.py --out DIR [--bits 4,8] [--past 128] [--prompt 128] [SHAPE...]
Needs Debian's python3-onnx (/usr/bin/python3).

SHAPE is tiny, 0.5B or 1B (default 0.5B): a graph of the Llama kind with random weights. Products are com.microsoft's MatMulNBits
(blocks of 32, accuracy_level 4), attention is GroupQueryAttention with rotary positions and a cache of keys and values.
Writes DIR/SHAPE_BITS.onnx with the inputs of two calls, and prints the command that compares both engines:

  prompt   --prompt tokens behind nothing
  step     one token behind --past tokens
"""
import argparse
import os

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

BLOCK = 32
# Each shape: layers, width, query heads, key and value heads, width of the feed-forward layer, and size of
# the vocabulary. A head has HEAD elements.
SHAPES = {"tiny": (2, 128, 2, 1, 256, 512), "0.5B": (24, 896, 14, 2, 4864, 32000), "1B": (16, 2048, 32, 8, 8192, 32000)}
HEAD = 64
POSITIONS = 4096


class Decoder:
    def __init__(self, shape, bits):
        self.layers, self.width, self.heads, self.kv_heads, self.inner, self.vocabulary = SHAPES[shape]
        self.bits = bits
        self.random = np.random.default_rng(1)
        self.nodes, self.constants = [], []

    def constant(self, name, array):
        self.constants.append(numpy_helper.from_array(array, name))
        return name

    def node(self, kind, inputs, outputs=1, domain="", **attributes):
        name = f"{kind}_{len(self.nodes)}"
        results = [f"{name}.{i}" for i in range(outputs)] if isinstance(outputs, int) else outputs
        self.nodes.append(helper.make_node(kind, inputs, results, name, domain=domain, **attributes))
        return results[0] if len(results) == 1 else results

    def linear(self, x, name, columns, rows, result=1):
        """Multiplies by a matrix of `rows` outputs, whose blocks have a factor each, so that results have about the size of x."""
        blocks = columns // BLOCK
        packed = self.random.integers(0, 256, (rows, blocks, BLOCK * self.bits // 8), dtype=np.uint8)
        spread = 2 ** self.bits / np.sqrt(12)
        scales = (self.random.uniform(0.8, 1.2, rows * blocks) / (spread * np.sqrt(columns))).astype(np.float32)
        return self.node("MatMulNBits", [x, self.constant(name + ".packed", packed), self.constant(name + ".scales", scales)], result,
                         "com.microsoft", K=columns, N=rows, bits=self.bits, block_size=BLOCK, accuracy_level=4)

    def norm(self, x, name):
        weight = self.constant(name, self.random.uniform(0.9, 1.1, self.width).astype(np.float32))
        return self.node("SimplifiedLayerNormalization", [x, weight], axis=-1, epsilon=1e-5, stash_type=1)

    def attention(self, x, layer):
        kv = self.kv_heads * HEAD
        q, k, v = [self.linear(x, f"{layer}.{n}", self.width, rows)
                   for n, rows in (("q", self.heads * HEAD), ("k", kv), ("v", kv))]
        y, _, _ = self.node(
            "GroupQueryAttention",
            [q, k, v, f"past_key.{layer}", f"past_value.{layer}", "seqlens_k", "total_sequence_length", "cosine", "sine"],
            [f"attention.{layer}", f"present_key.{layer}", f"present_value.{layer}"], "com.microsoft",
            num_heads=self.heads, kv_num_heads=self.kv_heads, do_rotary=1)
        return self.linear(y, f"{layer}.o", self.heads * HEAD, self.width)

    def feed_forward(self, x, layer):
        gate = self.linear(x, f"{layer}.gate", self.width, self.inner)
        up = self.linear(x, f"{layer}.up", self.width, self.inner)
        silu = self.node("Mul", [gate, self.node("Sigmoid", [gate])])
        return self.linear(self.node("Mul", [silu, up]), f"{layer}.down", self.inner, self.width)

    def model(self):
        angle = np.arange(POSITIONS)[:, None] / 10000 ** (np.arange(0, HEAD, 2) / HEAD)
        self.constant("cosine", np.cos(angle).astype(np.float32))
        self.constant("sine", np.sin(angle).astype(np.float32))
        embedding = self.constant("embedding", self.random.standard_normal((self.vocabulary, self.width), np.float32).astype(np.float16))
        x = self.node("Cast", [self.node("Gather", [embedding, "input_ids"])], to=TensorProto.FLOAT)
        for layer in range(self.layers):
            x = self.node("Add", [x, self.attention(self.norm(x, f"{layer}.norm"), layer)])
            x = self.node("Add", [x, self.feed_forward(self.norm(x, f"{layer}.ffn_norm"), layer)])
        # Only the last position is gathered, so logits are computed for one
        # token.
        last = self.node("Gather", [x, self.constant("last", np.array([-1], np.int64))], axis=1)
        self.linear(self.norm(last, "norm"), "output", self.width, self.vocabulary, ["logits"])
        inputs = [helper.make_tensor_value_info("input_ids", TensorProto.INT64, [1, "sequence"]),
                  helper.make_tensor_value_info("seqlens_k", TensorProto.INT32, [1]),
                  helper.make_tensor_value_info("total_sequence_length", TensorProto.INT32, [])]
        outputs = [helper.make_tensor_value_info("logits", TensorProto.FLOAT, [1, 1, self.vocabulary])]
        for kind in ("key", "value"):
            for layer in range(self.layers):
                for what, length, infos in (("past", "past", inputs), ("present", "total", outputs)):
                    infos.append(helper.make_tensor_value_info(f"{what}_{kind}.{layer}", TensorProto.FLOAT,
                                                               [1, self.kv_heads, length, HEAD]))
        graph = helper.make_graph(self.nodes, "decoder", inputs, outputs, self.constants)
        opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=8)

    def inputs(self, folder, call, tokens, past):
        """Writes the inputs of a call, and returns them as compare_ort.py takes them."""
        arrays = {"input_ids": (300 + np.arange(tokens) * 7 % 200).astype(np.int64)[None],
                  "seqlens_k": np.array([past + tokens - 1], np.int32), "total_sequence_length": np.array(past + tokens, np.int32)}
        state = self.random.standard_normal((1, self.kv_heads, past, HEAD), np.float32)
        values = []
        for name, array in arrays.items():
            np.save(os.path.join(folder, f"{call}_{name}.npy"), array)
            values.append(f"{name}=@{folder}/{call}_{name}.npy")
        np.save(os.path.join(folder, f"{call}_state.npy"), state)
        for kind in ("key", "value"):
            values += [f"past_{kind}.{layer}=@{folder}/{call}_state.npy" for layer in range(self.layers)]
        return " ".join(values)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", required=True, metavar="DIR")
    parser.add_argument("--bits", default="4")
    parser.add_argument("--past", type=int, default=128)
    parser.add_argument("--prompt", type=int, default=128)
    parser.add_argument("shapes", nargs="*", metavar="SHAPE")
    options = parser.parse_args()
    for shape in options.shapes or ["0.5B"]:
        if shape not in SHAPES:
            parser.error(f"no shape '{shape}'; expected {', '.join(SHAPES)}")
        for bits in map(int, options.bits.split(",")):
            folder = os.path.abspath(os.path.join(options.out, f"{shape}_{bits}"))
            os.makedirs(folder, exist_ok=True)
            decoder = Decoder(shape, bits)
            path = os.path.join(folder, "decoder.onnx")
            onnx.save(decoder.model(), path)
            calls = [decoder.inputs(folder, "prompt", options.prompt, 0), decoder.inputs(folder, "step", 1, options.past)]
            with open(os.path.join(folder, "compare.sh"), "w", encoding="utf-8") as file:
                file.write("#!/bin/sh\n"
                           f'exec tools/compare_ort.py --at "prompt: {calls[0]}" \\\n  --at "step: {calls[1]}" "$@" {path}\n')
            os.chmod(file.name, 0o755)
            print(f"{path}: {os.path.getsize(path) / 1e6:.0f} MB; compare with {file.name} --threads 1,2")


if __name__ == "__main__":
    main()
