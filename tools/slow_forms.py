#!/usr/bin/env python3
"""Writes small ONNX models of forms that were once slow, to compare them with ONNX Runtime.

usage: slow_forms.py FOLDER

    /usr/bin/python3 tools/slow_forms.py /tmp/forms
    python3 tools/compare_ort.py --threads=1 /tmp/forms/*.onnx

Each model is one form of a public report or of a search by find_slow_kernels: attention whose heads are not
the rows, products whose factors come at run time, weights of 4 and 8 bits, rows narrower than a vector,
a concatenation of a thousand parts. Needs Debian's python3-onnx. Values come from a fixed seed.
"""

import argparse
import os

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

MICROSOFT = "com.microsoft"
RANDOM = np.random.default_rng(2026)


def values(*shape):
    return RANDOM.standard_normal(shape).astype(np.float32)


def save(folder, name, nodes, inputs, constants=None):
    """Writes a model with the nodes, whose last result is the model's. inputs: name -> shape."""
    graph = helper.make_graph(
        nodes, name,
        [helper.make_tensor_value_info(key, TensorProto.FLOAT, shape) for key, shape in inputs.items()],
        [helper.make_empty_tensor_value_info(nodes[-1].output[0])],
        [numpy_helper.from_array(value, key) for key, value in (constants or {}).items()])
    imports = [helper.make_opsetid("", 15), helper.make_opsetid(MICROSOFT, 1)]
    onnx.save(helper.make_model(graph, opset_imports=imports, ir_version=8), os.path.join(folder, name + ".onnx"))


def attention(folder):
    shape, node = [1, 2048, 512], "MultiHeadAttention"
    for name, given in ("mha", shape), ("mha_open", ["batch", "positions", 512]):
        save(folder, name, [helper.make_node(node, ["q", "k", "v"], ["y"], domain=MICROSOFT, num_heads=8)],
             {"q": given, "k": given, "v": given})
    positions, heads, groups, size = 1024, 8, 2, 64
    inputs = {"q": [1, positions, heads * size], "k": [1, positions, groups * size], "v": [1, positions, groups * size]}
    lengths = {"past": np.zeros((1, groups, 0, size), np.float32), "last": np.array([positions - 1], np.int32),
               "total": np.array(positions, np.int32)}
    save(folder, "gqa_prefill",
         [helper.make_node("GroupQueryAttention", ["q", "k", "v", "past", "past", "last", "total"],
                           ["y", "keys", "values"], domain=MICROSOFT, num_heads=heads, kv_num_heads=groups)],
         inputs, lengths)


def products(folder):
    for rows in 1, 32:
        save(folder, f"gemm_{rows}_rows", [helper.make_node("Gemm", ["a", "b"], ["y"], transB=1)],
             {"a": [rows, 2048], "b": [2048, 2048]})
    weights = RANDOM.integers(0, 256, (2048, 64, 16), dtype=np.uint8)
    scales = RANDOM.random(2048 * 64).astype(np.float32) / 16
    for accuracy in 0, 4:
        save(folder, f"matmul_nbits_accuracy_{accuracy}",
             [helper.make_node("MatMulNBits", ["x", "w", "s"], ["y"], domain=MICROSOFT, K=2048, N=2048, bits=4,
                               block_size=32, accuracy_level=accuracy)],
             {"x": [1, 2048]}, {"w": weights, "s": scales})
    save(folder, "matmul_f32", [helper.make_node("MatMul", ["x", "w"], ["y"])],
         {"x": [1, 2048]}, {"w": values(2048, 2048)})
    save(folder, "dequantize_matmul",
         [helper.make_node("DequantizeLinear", ["w", "s"], ["f"]), helper.make_node("MatMul", ["x", "f"], ["y"])],
         {"x": [1, 2048]},
         {"w": RANDOM.integers(-128, 128, (2048, 2048), dtype=np.int8), "s": np.array(0.01, np.float32)})


def shapes(folder):
    parts = [f"x{i}" for i in range(1000)]
    save(folder, "concat_1000", [helper.make_node("Concat", parts, ["y"], axis=0)], {part: [1, 8] for part in parts})
    save(folder, "log_softmax_narrow", [helper.make_node("LogSoftmax", ["x"], ["y"], axis=1)], {"x": [100000, 3]})
    save(folder, "tiles",
         [helper.make_node("Tile", ["x", "n"], ["t"]), helper.make_node("Tile", ["t", "m"], ["u"]),
          helper.make_node("Relu", ["u"], ["y"])],
         {"x": [8, 4, 32]}, {"n": np.array([1, 4, 2], np.int64), "m": np.array([2, 1, 2], np.int64)})
    save(folder, "pad_of_pad",
         [helper.make_node("Pad", ["x", "p"], ["t"]), helper.make_node("Pad", ["t", "q"], ["y"])],
         {"x": [1, 60, 32, 32]},
         {"p": np.array([0, 2, 0, 0, 0, 2, 0, 0], np.int64), "q": np.array([0, 0, 1, 1, 0, 0, 1, 1], np.int64)})
    save(folder, "argmax_columns", [helper.make_node("ArgMax", ["x"], ["y"], axis=0, keepdims=0)], {"x": [2000, 2000]})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", help="the folder for the models; it is made if it does not exist")
    folder = parser.parse_args().folder
    os.makedirs(folder, exist_ok=True)
    attention(folder)
    products(folder)
    shapes(folder)


if __name__ == "__main__":
    main()
