#!/usr/bin/python3
"""Writes one model in every format that is read: dense layers without bias, each followed by a ReLU, and constant weights.

usage: import_models.py --out DIR [--width 2048] [--layers 6] [FORMAT...]
Needs Debian's python3-numpy, and python3-h5py for the formats of Keras. Without names of formats all are written. Weights
are random and the same each time and in each format. Prints a line for each model: its format, path, and options of
vm-compile; or `-` instead of the path, and the reason why it was not written. Each layer stores its weights as exports of its format do.
"""
import argparse
import json
import os
import struct
import sys

import numpy as np

from import_encoders import (Archive, FlatBuffer, integer, integers, masked_checksum, message, pickle_tensor, pickle_text,
                             sorted_table, tagged_floats, text, varint)


class Model:
    def __init__(self, width, layers, path):
        random = np.random.default_rng(18)
        self.width, self.path = width, path
        # A variance of about 2 / width keeps the magnitude of the values constant from layer
        # to layer, as ReLU zeroes half of them. Each row has the weights of one output.
        self.rows = [random.standard_normal((width, width), dtype=np.float32) * np.float32((2 / width)**0.5) for _ in range(layers)]

    def columns(self):
        """Returns the weights for formats whose rows are inputs."""
        return (np.ascontiguousarray(rows.T) for rows in self.rows)

    def write(self, *parts):
        with open(self.path, "wb") as file:
            for part in parts:
                file.write(part)


def onnx(m):
    dims = lambda *values: message(*(text(1, integer(1, value)) for value in values))
    value = lambda name: message(text(1, name), text(2, text(1, message(integer(1, 1), text(2, dims(1, m.width))))))
    flag = message(text(1, "transB"), integer(3, 1), integer(20, 2))
    graph = [text(2, "net"), text(11, value("x"))]
    before = "x"
    for i, rows in enumerate(m.rows):
        graph += [
            text(5, message(integer(1, m.width), integer(1, m.width), integer(2, 1), text(8, f"w{i}"), text(9, rows))),
            text(1, message(text(1, before), text(1, f"w{i}"), text(2, f"d{i}"), text(4, "Gemm"), text(5, flag))),
            text(1, message(text(1, f"d{i}"), text(2, f"r{i}"), text(4, "Relu"))),
        ]
        before = f"r{i}"
    graph.append(text(12, value(before)))
    m.write(integer(1, 8), text(8, message(text(1, ""), integer(2, 17))), text(7, message(*graph)))


# The attribute value in a TensorFlow graph that means "type f32": field 6 (`type`) has the
# value 1 (DT_FLOAT).
FLOAT = integer(6, 1)


def graph_entry(key, value):
    return text(5, message(text(1, key), text(2, value)))


def graph_shape(*dims):
    return message(*(text(2, integer(1, dim)) for dim in dims))


def graph_node(name, op, inputs, *entries):
    return text(1, message(text(1, name), text(2, op), *(text(3, each) for each in inputs), *entries))


def graph_of(m, weights):
    """Encodes the graph. `weights` has the nodes that give the weight `w{i}` of each layer."""
    shape = graph_entry("shape", text(7, graph_shape(1, m.width)))
    parts = [graph_node("x", "Placeholder", [], graph_entry("dtype", FLOAT), shape)]
    before = "x"
    for i, nodes in enumerate(weights):
        parts += nodes + [
            graph_node(f"d{i}", "MatMul", [before, f"w{i}"], graph_entry("T", FLOAT)),
            graph_node(f"r{i}", "Relu", [f"d{i}"], graph_entry("T", FLOAT)),
        ]
        before = f"r{i}"
    return message(*parts)


def graphdef(m):
    constant = lambda i, columns: graph_node(
        f"w{i}", "Const", [], graph_entry("dtype", FLOAT),
        graph_entry("value", text(8, message(integer(1, 1), text(2, graph_shape(m.width, m.width)), text(4, columns)))))
    m.write(graph_of(m, ([constant(i, columns)] for i, columns in enumerate(m.columns()))))


def saved_model(m):
    shape = graph_shape(m.width, m.width)
    variables = ([
        graph_node(f"v{i}", "VarHandleOp", [], graph_entry("dtype", FLOAT), graph_entry("shape", text(7, shape)),
                   graph_entry("shared_name", text(2, f"v{i}"))),
        graph_node(f"w{i}", "ReadVariableOp", [f"v{i}"], graph_entry("dtype", FLOAT)),
    ] for i in range(len(m.rows)))
    # TensorFlow restores variables with operators that pair each variable with its key in the
    # checkpoint. The graph has these operators, because the importer reads the pairs from them.
    names = message(integer(1, 7), text(2, graph_shape(len(m.rows))), *(text(8, f"v{i}") for i in range(len(m.rows))))
    restore = [
        graph_node("keys", "Const", [], graph_entry("dtype", integer(6, 7)), graph_entry("value", text(8, names))),
        graph_node("path", "Placeholder", [], graph_entry("dtype", integer(6, 7))),
        graph_node("restore", "RestoreV2", ["path", "keys", "keys"]),
        *(graph_node(f"assign{i}", "AssignVariableOp", [f"v{i}", f"restore:{i}"]) for i in range(len(m.rows))),
    ]
    told = lambda field, name, source: text(field, message(
        text(1, name), text(2, message(text(1, source), integer(2, 1), text(3, graph_shape(1, m.width))))))
    signature = message(told(1, "x", "x:0"), told(2, "y", f"r{len(m.rows) - 1}:0"), text(3, "tensorflow/serving/predict"))
    meta = message(text(1, text(4, "serve")), text(2, graph_of(m, variables) + b"".join(restore)),
                   text(5, message(text(1, "serving_default"), text(2, signature))))
    m.write(integer(1, 1), text(2, meta))
    # Writes the checkpoint into the folder `variables` beside the graph.
    prefix = os.path.join(os.path.dirname(m.path), "variables/variables")
    os.makedirs(os.path.dirname(prefix), exist_ok=True)
    entries = [(b"", integer(1, 1))]
    with open(prefix + ".data-00000-of-00001", "wb") as file:
        for i, columns in enumerate(m.columns()):
            checksum = struct.pack("<I", masked_checksum(columns.view("u1")))
            entries.append((f"v{i}".encode(), message(
                integer(1, 1), text(2, shape), integer(4, file.tell()), integer(5, columns.nbytes), varint(6 << 3 | 5), checksum)))
            file.write(columns)
    with open(prefix + ".index", "wb") as file:
        file.write(sorted_table(sorted(entries)))


def tflite(m):
    ints = lambda *values: np.array(values, dtype="<i4")
    count = len(m.rows)
    # Tensor 0 is the model's input. Two tensors follow for each layer: its weights and its result.
    # Buffer 0 is empty: the input and the results use it, as they have no constant data.
    tensor = lambda name, dims, buffer: {0: ints(*dims), 2: ("I", buffer), 3: name}
    tensors, operators = [tensor("x", (1, m.width), 0)], []
    for i in range(count):
        tensors += [tensor(f"w{i}", (m.width, m.width), i + 1), tensor(f"r{i}", (1, m.width), 0)]
        # The operator's options have the union type 8, FullyConnectedOptions; activation 1 is RELU.
        operators.append({0: ("I", 0), 1: ints(2 * i, 2 * i + 1, -1), 2: ints(2 * i + 2), 3: ("B", 8), 4: {0: ("b", 1)}})
    graph = {0: tensors, 1: ints(0), 2: ints(2 * count), 3: operators, 4: "main"}
    buffers = [{}] + [{0: rows.view("u1").ravel()} for rows in m.rows]
    code = {0: ("b", 9), 2: ("i", 1), 3: ("i", 9)}
    m.write(FlatBuffer({0: ("I", 3), 1: [code], 2: [graph], 3: "net", 4: buffers}, b"TFL3").data)


def caffe(m):
    shape = lambda *dims: integers(1, dims)
    layer = lambda name, kind, bottom, *parts: text(
        100, message(text(1, name), text(2, kind), *(text(3, each) for each in bottom), text(4, name), *parts))
    parts = [text(1, "net"), layer("x", "Input", [], text(143, text(1, shape(1, m.width))))]
    before = "x"
    for i, rows in enumerate(m.rows):
        blob = message(text(7, shape(m.width, m.width)), text(5, rows))
        parts += [
            layer(f"d{i}", "InnerProduct", [before], text(7, blob), text(117, message(integer(1, m.width), integer(2, 0)))),
            layer(f"r{i}", "ReLU", [f"d{i}"]),
        ]
        before = f"r{i}"
    m.write(*parts)


def caffe2(m):
    argument = lambda name, value: text(5, message(text(1, name), value))
    dims = lambda *values: argument("shape", message(*(integer(6, value) for value in values)))
    operator = lambda kind, inputs, output, *parts: text(
        2, message(*(text(1, each) for each in inputs), text(2, output), text(4, kind), *parts))
    predict, init = [text(1, "net")], [text(1, "init")]
    before = "x"
    for i, rows in enumerate(m.rows):
        init += [
            operator("GivenTensorFill", [], f"w{i}", dims(m.width, m.width), argument("values", tagged_floats(5, rows))),
            operator("ConstantFill", [], f"b{i}", dims(m.width)),
        ]
        predict += [operator("FC", [before, f"w{i}", f"b{i}"], f"d{i}"), operator("Relu", [f"d{i}"], f"r{i}")]
        before = f"r{i}"
    predict += [text(7, name) for i in range(len(m.rows)) for name in (f"w{i}", f"b{i}")]
    predict += [text(7, "x"), text(8, before)]
    m.write(*predict)
    m.path = m.path.replace("predict_net", "init_net")
    m.write(*init)


def coreml(m):
    feature = lambda name: message(text(1, name), text(3, text(5, message(integers(1, [m.width]), integer(2, 65568)))))
    layer = lambda name, before, kind, parameters: text(
        1, message(text(1, name), text(2, before), text(3, name), text(kind, parameters)))
    network, before = [], "x"
    for i, rows in enumerate(m.rows):
        dense = message(integer(1, m.width), integer(2, m.width), text(20, text(1, rows)))
        network += [layer(f"d{i}", before, 140, dense), layer(f"r{i}", f"d{i}", 130, text(10, b""))]
        before = f"r{i}"
    description = message(text(1, feature("x")), text(10, feature(before)))
    m.write(integer(1, 4), text(2, description), text(500, message(*network)))


def mxnet(m):
    nodes = [{"op": "null", "name": "x", "attrs": {"__shape__": f"(1, {m.width})"}, "inputs": []}]
    last = 0
    arrays, names = [], []
    for i, rows in enumerate(m.rows):
        at = len(nodes)
        nodes += [
            {"op": "null", "name": f"w{i}", "inputs": []},
            {"op": "FullyConnected", "name": f"d{i}", "inputs": [[last, 0, 0], [at, 0, 0]],
             "attrs": {"num_hidden": str(m.width), "no_bias": "True"}},
            {"op": "Activation", "name": f"r{i}", "attrs": {"act_type": "relu"}, "inputs": [[at + 1, 0, 0]]},
        ]
        last = at + 2
        # The header of an array in version 3 of MXNet's list of arrays: dense storage, two dims, in
        # host memory, f32.
        arrays += [struct.pack("<IiIqqiii", 0xf993fac9, 0, 2, m.width, m.width, 1, 0, 0), rows]
        name = f"arg:w{i}".encode()
        names.append(struct.pack("<Q", len(name)) + name)
    symbol = {"nodes": nodes, "arg_nodes": [i for i, node in enumerate(nodes) if node["op"] == "null"],
              "heads": [[last, 0, 0]], "attrs": {"mxnet_version": ["int", 10901]}}
    with open(m.path, "w", encoding="ascii") as file:
        json.dump(symbol, file)
    m.path = m.path.replace("-symbol.json", "-0000.params")
    m.write(struct.pack("<QQQ", 0x112, 0, len(m.rows)), *arrays, struct.pack("<Q", len(m.rows)), *names)


def torchscript(m):
    code = ["class Net(Module):", f"  __parameters__ = [{''.join(f'{chr(34)}w{i}{chr(34)}, ' for i in range(len(m.rows)))}]"]
    code += [f"  w{i} : Tensor" for i in range(len(m.rows))]
    code += ["  def forward(self: __torch__.Net,", "    x: Tensor) -> Tensor:"]
    before, attributes = "x", b""
    with Archive(m.path) as archive:
        for i, rows in enumerate(m.rows):
            code.append(f"    r{i} = torch.relu(torch.linear({before}, self.w{i}))")
            before = f"r{i}"
            attributes += pickle_text(f"w{i}") + pickle_tensor(str(i), rows.shape)
            archive.add(f"net/data/{i}", rows.tobytes())
        code.append(f"    return {before}\n")
        archive.add("net/code/__torch__.py", "\n".join(code))
        archive.add("net/version", "10\n")
        archive.add("net/data.pkl", b"\x80\x02c__torch__\nNet\n)\x81}(" + attributes + b"ub.")
        archive.add("net/constants.pkl", b"\x80\x02(t.")


def torch_export(m):
    meta = lambda *dims: {"dtype": 7, "sizes": [{"as_int": dim} for dim in dims], "requires_grad": False,
                          "device": {"type": "cpu", "index": None}, "storage_offset": {"as_int": 0}, "layout": 7,
                          "strides": [{"as_int": int(np.prod(dims[i + 1:]))} for i in range(len(dims))]}
    tensor = lambda name: {"as_tensor": {"name": name}}
    node = lambda target, inputs, name: {
        "target": f"torch.ops.aten.{target}.default", "name": name, "metadata": {}, "outputs": [tensor(name)],
        "is_hop_single_tensor_return": None,
        "inputs": [{"name": "", "kind": 1, "arg": tensor(each)} for each in inputs]}
    tensors, nodes, parameters, config = {"x": meta(1, m.width)}, [], [], {}
    before = "x"
    with Archive(m.path) as archive:
        for i, rows in enumerate(m.rows):
            nodes += [node("linear", [before, f"p_w{i}"], f"d{i}"), node("relu", [f"d{i}"], f"r{i}")]
            before = f"r{i}"
            tensors[f"p_w{i}"] = meta(*rows.shape)
            parameters.append({"parameter": {"arg": {"name": f"p_w{i}"}, "parameter_name": f"w{i}"}})
            config[f"w{i}"] = {"path_name": f"weight_{i}", "is_param": True, "use_pickle": False, "tensor_meta": meta(*rows.shape)}
            archive.add(f"net/data/weights/weight_{i}", rows.tobytes())
        inputs = [tensor(f"p_w{i}") for i in range(len(m.rows))] + [tensor("x")]
        graph = {"inputs": inputs, "outputs": [tensor(before)], "nodes": nodes, "tensor_values": tensors, "sym_int_values": {},
                 "sym_bool_values": {}, "is_single_tensor_return": False, "custom_obj_values": {}}
        signature = {"input_specs": parameters + [{"user_input": {"arg": tensor("x")}}],
                     "output_specs": [{"user_output": {"arg": tensor(before)}}]}
        call = {"fqn": "", "signature": {"inputs": [], "outputs": [], "in_spec": "", "out_spec": ""}}
        program = {"graph_module": {"graph": graph, "signature": signature, "module_call_graph": [call], "metadata": {}},
                   "opset_version": {"aten": 10}, "range_constraints": {}, "schema_version": {"major": 8, "minor": 8},
                   "torch_version": "2.8.0"}
        archive.add("net/data/weights/model_weights_config.json", json.dumps({"config": config}))
        archive.add("net/data/constants/model_constants_config.json", json.dumps({"config": {}}))
        archive.add("net/models/model.json", json.dumps(program))
        for name, contents in (("archive_format", "pt2"), ("archive_version", "0"), ("byteorder", "little")):
            archive.add(f"net/{name}", contents)


def keras_layers(m):
    layers = [{"module": "keras.layers", "class_name": "InputLayer",
               "config": {"name": "x", "dtype": "float32", "batch_shape": [1, m.width], "batch_input_shape": [1, m.width]}}]
    for i in range(len(m.rows)):
        name = "dense" if i == 0 else f"dense_{i}"
        layers.append({"module": "keras.layers", "class_name": "Dense",
                       "config": {"name": name, "units": m.width, "activation": "relu", "use_bias": False}})
    return {"module": "keras", "class_name": "Sequential", "config": {"name": "net", "layers": layers}}


def keras_h5(m):
    import h5py
    with h5py.File(m.path, "w") as file:
        config = keras_layers(m)
        file.attrs["keras_version"] = "2.15.0"
        file.attrs["model_config"] = json.dumps(config)
        for layer, columns in zip(config["config"]["layers"][1:], m.columns()):
            name = layer["config"]["name"]
            group = file.create_group(f"model_weights/{name}")
            group.attrs["weight_names"] = [f"{name}/kernel:0".encode()]
            group.create_dataset(f"{name}/kernel:0", data=columns)


def keras(m):
    import h5py
    weights = m.path + ".weights"
    config = keras_layers(m)
    with h5py.File(weights, "w") as file:
        for layer, columns in zip(config["config"]["layers"][1:], m.columns()):
            file.create_dataset(f"layers/{layer['config']['name']}/vars/0", data=columns)
    with Archive(m.path) as archive, open(weights, "rb") as file:
        archive.add("metadata.json", json.dumps({"keras_version": "3.4.1"}))
        archive.add("config.json", json.dumps(config))
        archive.add("model.weights.h5", file.read())
    os.remove(weights)


def stablehlo(m):
    row, square = f"tensor<1x{m.width}xf32>", f"tensor<{m.width}x{m.width}xf32>"
    with open(m.path, "w", encoding="ascii") as file:
        file.write(f"module @net {{\n  func.func public @main(%x: {row}) -> {row} {{\n")
        file.write(f"    %zero = stablehlo.constant dense<0.0> : {row}\n")
        before = "%x"
        for i, columns in enumerate(m.columns()):
            file.write(f'    %w{i} = stablehlo.constant dense<"0x{columns.tobytes().hex().upper()}"> : {square}\n')
            file.write(f"    %d{i} = stablehlo.dot_general {before}, %w{i}, contracting_dims = [1] x [0] : ({row}, {square}) -> {row}\n")
            file.write(f"    %r{i} = stablehlo.maximum %d{i}, %zero : {row}\n")
            before = f"%r{i}"
        file.write(f"    return {before} : {row}\n  }}\n}}\n")


# For each format: the function that writes it, the file that it writes, and the options that
# vm-compile needs for it.
FORMATS = {
    "onnx": (onnx, "model.onnx", ""),
    "tflite": (tflite, "model.tflite", ""),
    "graphdef": (graphdef, "model.pb", ""),
    "savedmodel": (saved_model, "saved_model.pb", ""),
    "caffe": (caffe, "model.caffemodel", ""),
    "caffe2": (caffe2, "predict_net.pb", "--shape=x=1x{width}"),
    "coreml": (coreml, "model.mlmodel", ""),
    "mxnet": (mxnet, "model-symbol.json", ""),
    "torchscript": (torchscript, "model.pt", "--shape=x=1x{width}"),
    "torch-export": (torch_export, "model.pt2", ""),
    "keras-h5": (keras_h5, "model.h5", ""),
    "keras": (keras, "model.keras", ""),
    "stablehlo": (stablehlo, "model.mlir", ""),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", required=True, metavar="DIR")
    parser.add_argument("--width", type=int, default=2048)
    parser.add_argument("--layers", type=int, default=6)
    parser.add_argument("formats", nargs="*", metavar="FORMAT", help=f"formats among {', '.join(FORMATS)}")
    options = parser.parse_args()
    for name in options.formats or FORMATS:
        if name not in FORMATS:
            parser.error(f"no format '{name}'; there are {', '.join(FORMATS)}")
        write, file, told = FORMATS[name]
        folder = os.path.join(options.out, name)
        os.makedirs(folder, exist_ok=True)
        path = os.path.join(folder, file)
        try:
            write(Model(options.width, options.layers, path))
            print(name, path, told.format(width=options.width), flush=True)
        except ImportError as error:
            print(name, "-", error, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
