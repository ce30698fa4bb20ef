#!/usr/bin/python3
"""Measures what an iteration costs, compared with ONNX Runtime in the same run.

usage: loop_bench.py [--rounds 5] [--runs 20] [--seconds 2] [--models NAME,...] [--keep DIR]

Models are made here (Debian's python3-onnx): LSTM and GRU layers of batch 1, and loops whose bodies
do next to nothing, so that the rest of their time is what the program pays for an iteration. Engines
take turns; see compare_ort.py, which does the measuring, for what the columns and settings are.
"""

import argparse
import os
import random
import tempfile

import onnx
from onnx import TensorProto, helper

import compare_ort

STEPS = 200
ITERATIONS = 10000


def floats(name, *dims):
    generator = random.Random(name)
    count = 1
    for dim in dims:
        count *= dim
    values = [generator.uniform(-0.1, 0.1) for _ in range(count)]
    return helper.make_tensor(name, TensorProto.FLOAT, dims, values)


def value(name, *dims, dtype=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, dtype, dims)


def model_of(graph):
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=8)


def layer(operator, gates, hidden):
    width = gates * hidden
    weights = [floats("w", 1, width, hidden), floats("r", 1, width, hidden), floats("b", 1, 2 * width)]
    node = helper.make_node(operator, ["x", "w", "r", "b"], ["y"], hidden_size=hidden)
    graph = helper.make_graph([node], operator, [value("x", STEPS, 1, hidden)],
                              [value("y", STEPS, 1, 1, hidden)], weights)
    return model_of(graph), STEPS


def loop(nodes, state, stacked=False):
    """Makes a model in which y is the state after ITERATIONS times `nodes`, which compute `next` from `state`."""
    keep = helper.make_node("Identity", ["condition"], ["proceed"])
    outputs = [value("proceed", dtype=TensorProto.BOOL), value("next", *state)]
    if stacked:
        nodes = nodes + [helper.make_node("Identity", ["next"], ["row"])]
        outputs.append(value("row", *state))
    body = helper.make_graph(
        nodes + [keep], "body",
        [value("i", dtype=TensorProto.INT64), value("condition", dtype=TensorProto.BOOL),
         value("state", *state)], outputs, [floats("one", *state)])
    results = [value("y", *state)] + ([value("rows", ITERATIONS, *state)] if stacked else [])
    node = helper.make_node("Loop", ["n", "", "x"], [r.name for r in results], body=body)
    count = helper.make_tensor("n", TensorProto.INT64, [], [ITERATIONS])
    return model_of(helper.make_graph([node], "loop", [value("x", *state)], results, [count])), ITERATIONS


ADD = helper.make_node("Add", ["state", "one"], ["next"])
COPY = helper.make_node("Identity", ["state"], ["next"])
MODELS = {
    "loop_empty": lambda: loop([COPY], [16]),
    "loop_add": lambda: loop([ADD], [16]),
    "loop_add_stacked": lambda: loop([ADD], [16], stacked=True),
    "lstm_64": lambda: layer("LSTM", 4, 64),
    "lstm_256": lambda: layer("LSTM", 4, 256),
    "gru_64": lambda: layer("GRU", 3, 64),
}


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--tier", default="auto", help="the tier of Ember: 0, 1, 2 or auto (vm-run --help)")
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--keep", metavar="DIR", help="leaves the models in this folder, and measures nothing")
    options = parser.parse_args()
    options.threads, options.warmup = [1], 2
    options.shape, options.at = [], []
    return options


def main():
    options = parse_arguments()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name in options.models.split(","):
            model, iterations = MODELS[name]()
            os.makedirs(options.keep or folder, exist_ok=True)
            path = os.path.join(options.keep or folder, name + ".onnx")
            onnx.save(model, path)
            if options.keep:
                continue
            row = compare_ort.compare(path, options, folder)[0]
            rows.append((name, row, iterations))
    for name, row, iterations in rows:
        per = lambda ms: ms * 1e6 / iterations
        print(f"{name:18} ns per iteration: Ember {per(row['ember_ms']):8.0f}   ONNX Runtime "
              f"{per(row['ort_ms']):8.0f}   ratio {row['ratio']:.2f}x   spread "
              f"{row['ember_spread']:.0%} / {row['ort_spread']:.0%}   max diff {row['max_diff']}")


if __name__ == "__main__":
    main()
