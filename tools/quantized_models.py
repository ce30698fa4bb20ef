#!/usr/bin/python3
"""Writes quantized models: blocks of image networks, in the forms that quantizers write.

usage: quantized_models.py --out DIR [--forms qlinear,qdq] [--types u8,i8] [--reduce-range] [NAME...]
Needs Debian's python3-onnx (/usr/bin/python3). Writes DIR/NAME_FORM_TYPE.onnx, as tools/compare_ort.py
reads them: weights are i8, of one scale per channel; activations are of TYPE. In the form `qlinear`
convolutions are QLinearConv and sums com.microsoft's QLinearAdd; in `qdq` they are the float operators
between DequantizeLinear and QuantizeLinear, with activation functions written out; `float` has none
of it (NAME_float.onnx). With --reduce-range weights are in -64..64, as quantizers make them on request for
x86 without VNNI, and the files' names end in _reduced. Scales follow from the float model's values. Everything is the same each time.
"""
import argparse
import os
import zlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

# A model has images of `size` with `channels`, and layers that each take the result of the previous
# one. Layers are written as:
#   conv OUT WINDOW STRIDE GROUPS ACTIVATION     GROUPS 0: one per channel; ACTIVATION none, relu, relu6
#   save, add ACTIVATION                         save keeps the result; add adds the kept result
#   pool                                         the average of each channel
#   gemm OUT
INVERTED = "save; conv {wide} 1 1 1 relu6; conv {wide} 3 1 0 relu6; conv {narrow} 1 1 1 none; add none"
HEAD = "pool; gemm 100"
MODELS = {
    # The layers of MobileNetV2's blocks at three sizes, and of the strided
    # blocks between them.
    "mobile": (
        112,
        3,
        "; ".join([
            "conv 24 3 2 1 relu6",
            INVERTED.format(wide=144, narrow=24), "conv 144 1 1 1 relu6; conv 144 3 2 0 relu6; conv 32 1 1 1 none",
            INVERTED.format(wide=192, narrow=32), "conv 192 1 1 1 relu6; conv 192 3 2 0 relu6; conv 64 1 1 1 none",
            INVERTED.format(wide=384, narrow=64), HEAD
        ]),
    ),
    "depthwise": (56, 96, "conv 96 3 1 0 relu6; conv 96 3 2 0 relu6; conv 96 5 1 0 relu6; conv 96 3 1 0 none"),
    "pointwise": (28, 192, "conv 64 1 1 1 none; conv 384 1 1 1 relu; conv 64 1 1 1 none; conv 384 1 1 1 relu"),
    "resnet": (
        112,
        3,
        "conv 64 3 2 1 relu; save; conv 64 3 1 1 relu; conv 64 3 1 1 none; add relu; conv 128 3 2 1 relu; save; "
        "conv 128 3 1 1 relu; conv 128 3 1 1 none; add relu; " + HEAD,
    ),
    "bottleneck": (
        56,
        3,
        "conv 256 3 2 1 relu; save; conv 64 1 1 1 relu; conv 64 3 1 1 relu; conv 256 1 1 1 none; add relu; " + HEAD,
    ),
    "grouped": (
        56,
        3,
        "conv 128 3 2 1 relu; conv 256 1 1 1 relu; conv 256 3 1 32 relu; conv 240 1 1 4 relu; conv 240 3 1 0 none; " + HEAD,
    ),
    "stem": (224, 3, "conv 64 7 2 1 relu; conv 32 3 2 1 relu"),
}
TYPES = {"u8": (np.uint8, TensorProto.UINT8, 0, 255), "i8": (np.int8, TensorProto.INT8, -128, 127)}


class Model:
    """A float model under construction, with its values for one input."""

    def __init__(self, name, size, channels):
        self.random = np.random.default_rng(zlib.crc32(name.encode()))
        # one entry for each layer: (kind, names of its inputs, name of its result,
        # settings)
        self.layers = []
        self.values = {"x": self.random.standard_normal((1, channels, size, size), dtype=np.float32)}
        self.last = "x"

    def add(self, kind, inputs, value, **settings):
        result = f"t{len(self.layers)}"
        self.layers.append((kind, inputs, result, settings))
        self.values[result] = value
        self.last = result

    def activate(self, activation):
        if activation == "none":
            return
        top = 6.0 if activation == "relu6" else np.inf
        self.add(activation, [self.last], np.clip(self.values[self.last], 0, top))

    def conv(self, out, window, stride, groups):
        x = self.values[self.last]
        inputs = x.shape[1]
        groups = groups or inputs
        shape = (out, inputs // groups, window, window)
        w = self.random.standard_normal(shape, dtype=np.float32) * np.float32((2 / np.prod(shape[1:]))**0.5)
        b = self.random.standard_normal(out, dtype=np.float32) * np.float32(0.1)
        pad = window // 2
        padded = np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
        rows = np.lib.stride_tricks.sliding_window_view(padded, (window, window), axis=(2, 3))[:, :, ::stride, ::stride]
        parts = [
            np.einsum("nchwrs,ocrs->nohw", rows[:, g * shape[1]:(g + 1) * shape[1]],
                      w[g * out // groups:(g + 1) * out // groups], optimize=True) for g in range(groups)
        ]
        y = (np.concatenate(parts, axis=1) + b[:, None, None]).astype(np.float32)
        self.add("conv", [self.last], y, w=w, b=b, stride=stride, groups=groups, pad=pad, window=window)

    def gemm(self, out):
        x = self.values[self.last]
        w = self.random.standard_normal((out, x.shape[1]), dtype=np.float32) / np.float32(x.shape[1]**0.5)
        b = self.random.standard_normal(out, dtype=np.float32) * np.float32(0.1)
        self.add("gemm", [self.last], x @ w.T + b, w=w, b=b)


def build(name):
    size, channels, text = MODELS[name]
    model = Model(name, size, channels)
    saved = None
    for line in text.split(";"):
        kind, *words = line.split()
        if kind == "save":
            saved = model.last
        elif kind == "add":
            model.add("add", [model.last, saved], model.values[model.last] + model.values[saved])
            model.activate(words[0])
        elif kind == "pool":
            model.add("pool", [model.last], model.values[model.last].mean(axis=(2, 3)))
        elif kind == "gemm":
            model.gemm(int(words[0]))
        else:
            model.conv(*[int(word) for word in words[:4]])
            model.activate(words[4])
    return model


class Writer:
    """Writes the model in one form."""

    def __init__(self, model, form, type_name, most=127):
        self.model, self.form = model, form
        self.most = most  # largest absolute value of a quantized weight
        self.dtype, self.onnx_type, self.low, self.high = TYPES.get(type_name, TYPES["u8"])
        self.nodes, self.constants = [], []

    def constant(self, name, value):
        if all(name != constant.name for constant in self.constants):
            self.constants.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def node(self, kind, inputs, result, domain="", **attributes):
        self.nodes.append(helper.make_node(kind, inputs, [result], domain=domain, **attributes))
        return result

    def parameters(self, name, value):
        """Returns scale and zero point of an activation."""
        low, high = min(float(value.min()), 0), max(float(value.max()), 0)
        scale = np.float32((high - low) / (self.high - self.low))
        zero = self.dtype(np.clip(np.round(self.low - low / scale), self.low, self.high))
        return self.constant(name + "_scale", scale), self.constant(name + "_zero", zero), scale

    def weights(self, name, w, b, input_scale):
        flat = np.abs(w.reshape(w.shape[0], -1)).max(axis=1)
        scale = (flat / self.most).astype(np.float32)
        shape = (-1,) + (1,) * (w.ndim - 1)
        quantized = np.clip(np.round(w / scale.reshape(shape)), -self.most, self.most).astype(np.int8)
        bias_scale = (scale * input_scale).astype(np.float32)
        bias = np.round(b / bias_scale).astype(np.int32)
        return (self.constant(name + "_w", quantized), self.constant(name + "_w_scale", scale),
                self.constant(name + "_w_zero", np.zeros(len(scale), np.int8)), self.constant(name + "_b", bias),
                self.constant(name + "_b_scale", bias_scale), self.constant(name + "_b_zero", np.zeros(len(scale), np.int32)))

    def write(self, name):
        graph_inputs = self.model.values["x"].shape
        value = {"float": self.float_graph, "qdq": self.qdq, "qlinear": self.qlinear}[self.form]()
        y = self.model.values[self.model.last]
        graph = helper.make_graph(self.nodes, name, [helper.make_tensor_value_info("x", TensorProto.FLOAT, graph_inputs)],
                                  [helper.make_tensor_value_info(value, TensorProto.FLOAT, y.shape)], self.constants)
        return helper.make_model(graph, ir_version=8,
                                 opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)])

    def float_node(self, kind, inputs, result, settings, weights=None):
        if kind == "conv":
            w, b = weights or (self.constant(result + "_w", settings["w"]), self.constant(result + "_b", settings["b"]))
            return self.node("Conv", inputs + [w, b], result, kernel_shape=[settings["window"]] * 2,
                             strides=[settings["stride"]] * 2, pads=[settings["pad"]] * 4, group=settings["groups"])
        if kind == "gemm":
            w, b = weights or (self.constant(result + "_w", settings["w"]), self.constant(result + "_b", settings["b"]))
            return self.node("Gemm", inputs + [w, b], result, transB=1)
        if kind == "relu6":
            low, high = self.constant("zero", np.float32(0)), self.constant("six", np.float32(6))
            return self.node("Clip", inputs + [low, high], result)
        if kind == "relu":
            return self.node("Relu", inputs, result)
        if kind == "pool":
            pooled = self.node("GlobalAveragePool", inputs, result + "_pooled")
            return self.node("Flatten", [pooled], result)
        return self.node("Add", inputs, result)

    def float_graph(self):
        for kind, inputs, result, settings in self.model.layers:
            self.float_node(kind, inputs, result, settings)
        return self.model.last

    def fused(self):
        """Joins layers with the activation function that follows: (kind, inputs, result, settings, activation)."""
        layers = []
        for kind, inputs, result, settings in self.model.layers:
            if kind.startswith("relu"):
                before = layers.pop()
                layers.append(before[:2] + (result, before[3], (kind, before[2])))
            else:
                layers.append((kind, inputs, result, settings, None))
        return layers

    def qdq(self):
        def quantize(name, wide):
            scale, zero, _ = self.parameters(name, self.model.values[name])
            narrow = self.node("QuantizeLinear", [wide, scale, zero], name + "_q")
            return self.node("DequantizeLinear", [narrow, scale, zero], name + "_dq")

        read = {"x": quantize("x", "x")}
        for kind, inputs, result, settings, activation in self.fused():
            weights = None
            if "w" in settings:
                _, _, input_scale = self.parameters(inputs[0], self.model.values[inputs[0]])
                w, w_scale, w_zero, b, b_scale, b_zero = self.weights(result, settings["w"], settings["b"], input_scale)
                weights = (self.node("DequantizeLinear", [w, w_scale, w_zero], result + "_w_dq", axis=0),
                           self.node("DequantizeLinear", [b, b_scale, b_zero], result + "_b_dq", axis=0))
            names = [read[name] for name in inputs]
            if kind == "pool":
                pooled = self.node("GlobalAveragePool", names, result + "_wide")
                wide = self.node("Flatten", [quantize(result, pooled)], result + "_flat")
                read[result] = wide
                continue
            wide = self.float_node(kind, names, result + "_wide", settings, weights)
            if activation:
                wide = self.float_node(activation[0], [wide], result + "_active", {})
            read[result] = quantize(result, wide)
        return read[self.model.last]

    def qlinear(self):
        scale, zero, _ = self.parameters("x", self.model.values["x"])
        read = {"x": self.node("QuantizeLinear", ["x", scale, zero], "x_q")}
        for kind, inputs, result, settings, _ in self.fused():
            operands = []
            for name in inputs:
                scale, zero, input_scale = self.parameters(name, self.model.values[name])
                operands += [read[name], scale, zero]
            scale, zero, _ = self.parameters(result, self.model.values[result])
            if kind == "conv":
                w, w_scale, w_zero, b, _, _ = self.weights(result, settings["w"], settings["b"], input_scale)
                read[result] = self.node("QLinearConv", operands + [w, w_scale, w_zero, scale, zero, b], result + "_q",
                                         kernel_shape=[settings["window"]] * 2, strides=[settings["stride"]] * 2,
                                         pads=[settings["pad"]] * 4, group=settings["groups"])
            elif kind == "gemm":
                w, w_scale, w_zero, b, _, _ = self.weights(result, settings["w"], settings["b"], input_scale)
                read[result] = self.node("QGemm", operands + [w, w_scale, w_zero, b, scale, zero], result + "_q",
                                         domain="com.microsoft", transB=1)
            elif kind == "pool":
                pooled = self.node("QLinearGlobalAveragePool", operands + [scale, zero], result + "_pooled",
                                   domain="com.microsoft")
                read[result] = self.node("Flatten", [pooled], result + "_q")
            else:
                read[result] = self.node("QLinearAdd", operands + [scale, zero], result + "_q", domain="com.microsoft")
        scale, zero, _ = self.parameters(self.model.last, self.model.values[self.model.last])
        return self.node("DequantizeLinear", [read[self.model.last], scale, zero], "y")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=[], metavar="NAME")
    parser.add_argument("--out", required=True)
    parser.add_argument("--forms", default="qlinear,qdq")
    parser.add_argument("--types", default="u8,i8")
    parser.add_argument("--reduce-range", action="store_true")
    arguments = parser.parse_args()
    os.makedirs(arguments.out, exist_ok=True)
    for name in arguments.names or MODELS:
        model = build(name)
        for form in arguments.forms.split(","):
            for type_name in [""] if form == "float" else arguments.types.split(","):
                reduced = arguments.reduce_range and form != "float"
                full = "_".join(part for part in (name, form, type_name, "reduced" if reduced else "") if part)
                written = Writer(model, form, type_name, 64 if reduced else 127).write(full)
                onnx.checker.check_model(written)
                onnx.save(written, os.path.join(arguments.out, full + ".onnx"))
                print(full)


if __name__ == "__main__":
    main()
