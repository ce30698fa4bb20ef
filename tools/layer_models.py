#!/usr/bin/python3
"""Writes a model per line of a list of layers: a convolution or a matrix product with constant weights.

usage: layer_models.py --out DIR [--layers ../shared/peers/layers.txt] [NAME...]
Needs Debian's python3-onnx (/usr/bin/python3). Writes DIR/NAME.onnx and DIR/NAME.flops (two per
multiply-add), as tools/compare_ort.py reads them. Weights are random and the same each time.

A line is `NAME conv N H W C K R S stride pad groups` (images of C channels to K, kernels of RxS) or
`NAME gemm M N K`; from '#' on, comments.
"""
import argparse
import os
import zlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def tensor(name, shape):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


def weights(name, shape, fan_in):
    random = np.random.default_rng(zlib.crc32(name.encode()))
    values = random.standard_normal(shape, dtype=np.float32) / np.sqrt(np.float32(fan_in))
    return numpy_helper.from_array(values, "w")


def convolution(name, numbers):
    n, h, w, c, k, r, s, stride, pad, groups = numbers
    out_h, out_w = (h + 2 * pad - r) // stride + 1, (w + 2 * pad - s) // stride + 1
    fan_in = c // groups * r * s
    node = helper.make_node("Conv", ["x", "w"], ["y"], kernel_shape=[r, s], strides=[stride, stride],
                            pads=[pad] * 4, group=groups)
    shapes = [n, c, h, w], [n, k, out_h, out_w]
    return node, shapes, weights(name, (k, c // groups, r, s), fan_in), 2 * n * k * out_h * out_w * fan_in


def product(name, numbers):
    m, n, k = numbers
    node = helper.make_node("MatMul", ["x", "w"], ["y"])
    return node, ([m, k], [m, n]), weights(name, (k, n), k), 2 * m * n * k


def read_layers(path):
    """Returns the words of each line, by name."""
    with open(path, encoding="utf-8") as file:
        lines = [line.split("#")[0].split() for line in file]
    return {line[0]: line for line in lines if line}


def write(line, folder):
    name, kind, *numbers = line
    make = {"conv": convolution, "gemm": product}[kind]
    node, (shape, result), constant, flops = make(name, [int(number) for number in numbers])
    graph = helper.make_graph([node], name, [tensor("x", shape)], [tensor("y", result)], [constant])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model)
    onnx.save(model, os.path.join(folder, name + ".onnx"))
    with open(os.path.join(folder, name + ".flops"), "w", encoding="ascii") as file:
        file.write(f"{flops}\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", required=True, metavar="DIR")
    parser.add_argument("--layers", default=os.path.join(ROOT, "../shared/peers/layers.txt"), metavar="FILE")
    parser.add_argument("names", nargs="*", metavar="NAME")
    options = parser.parse_args()
    os.makedirs(options.out, exist_ok=True)
    layers = read_layers(options.layers)
    for name in options.names or layers:
        if name not in layers:
            parser.error(f"no layer '{name}' in {options.layers}; it has {', '.join(layers)}")
        write(layers[name], options.out)


if __name__ == "__main__":
    main()
