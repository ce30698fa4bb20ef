#!/usr/bin/env python3
"""Compares quantized TensorFlow Lite models with their twins of real numbers, here and in TensorFlow Lite.

    npm install --ignore-scripts --legacy-peer-deps --prefix ~/.cache/ember/tflite @tensorflow/tfjs-tflite@0.0.1-alpha.10 \\
        node-tflite@0.0.2
    bazel build //tools:vm-run
    tools/tflite_twins.py [--inputs=100] [--fill=1] [--tier=0] [--library=FILE] QUANTIZED.tflite=TWIN.tflite...

A twin is the same published model with real numbers (floats) as weights. Both get the same random, smooth inputs, which the
quantized model's input can represent exactly; --fill is the share of the input's range, around its middle, that they fill.
Prints a row of a Markdown table for each pair: root mean squares of the
distance to the twin, in units of the twin's result, of

    Ember      vm-run on the quantized model
    library    TensorFlow Lite's own C library, if --library names one: any version's libtensorflowlite_c.so; node-tflite has
               that of 2.2.0 (node_modules/node-tflite/tflite/linux_x86_64/libtensorflowlite_c.so)
    browsers   TensorFlow Lite's build for browsers, from npm (tflite_wasm.mjs; its 8-bit kernels are XNNPACK's)

then the root mean square of the twin's results, and the share of elements in which Ember equals each of the others. The
twin is run by vm-run. Needs NumPy (Debian's python3-numpy) and node.

Environment: EMBER_BIN, the folder of vm-run (bazel-bin/tools); TFLITE_DIR, where npm installed the package
(~/.cache/ember/tflite). Exits 2 where the command line is wrong, 1 where a model does not run.
"""

import argparse
import ctypes
import os
import struct
import subprocess
import sys
import tempfile

import numpy

import children

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BIN = os.environ.get("EMBER_BIN") or os.path.join(ROOT, "bazel-bin/tools")
TFLITE_DIR = os.environ.get("TFLITE_DIR") or os.path.expanduser("~/.cache/ember/tflite")
# For each number of TensorType in TensorFlow Lite's schema, NumPy's name of the
# type.
TYPES = {0: "float32", 2: "int32", 3: "uint8", 4: "int64", 6: "bool", 7: "int16", 9: "int8"}


class Edge:
    """An input or a result of a model: its dims, type and quantization."""

    def __init__(self, dims, dtype, scale, zero):
        self.dims, self.dtype, self.scale, self.zero = dims, numpy.dtype(dtype), scale, zero

    def real(self, stored):
        return (stored.astype(numpy.float64) - self.zero) * self.scale

    def stored(self, real):
        if self.dtype.kind == "f":
            return real.astype(self.dtype)
        bounds = numpy.iinfo(self.dtype)
        return numpy.clip(numpy.round(real / self.scale) + self.zero, bounds.min, bounds.max).astype(self.dtype)


class Flatbuffer:
    """Reads fields of tables by their numbers in the schema."""

    def __init__(self, data):
        self.data = data

    def number(self, form, at):
        return struct.unpack_from("<" + form, self.data, at)[0]

    def follow(self, at):
        return at + self.number("I", at)

    def field(self, table, number):
        vtable = table - self.number("i", table)
        if 4 + 2 * number >= self.number("H", vtable):
            return None
        offset = self.number("H", vtable + 4 + 2 * number)
        return table + offset if offset else None

    def numbers(self, table, number, form):
        at = self.field(table, number)
        if at is None:
            return []
        at = self.follow(at)
        size = struct.calcsize("<" + form)
        return [self.number(form, at + 4 + size * i) for i in range(self.number("I", at))]

    def tables(self, table, number):
        at = self.follow(self.field(table, number))
        return [self.follow(at + 4 + 4 * i) for i in range(self.number("I", at))]


def edges_of(path):
    """Returns the inputs and the results of a model's first subgraph."""
    with open(path, "rb") as file:
        buffer = Flatbuffer(file.read())
    graph = buffer.tables(buffer.follow(0), 2)[0]
    tensors = buffer.tables(graph, 0)

    def edge(index):
        tensor = tensors[index]
        kind = buffer.field(tensor, 1)
        quantization = buffer.field(tensor, 4)
        scales, zeros = [], []
        if quantization is not None:
            quantization = buffer.follow(quantization)
            scales, zeros = buffer.numbers(quantization, 2, "f"), buffer.numbers(quantization, 3, "q")
        number = buffer.number("b", kind) if kind is not None else 0
        if number not in TYPES:
            raise RuntimeError(f"{path}: expected elements of one of the types {', '.join(TYPES.values())}, found type {number}")
        return Edge(buffer.numbers(tensor, 0, "i"), TYPES[number], scales[0] if scales else 1.0, zeros[0] if zeros else 0)

    return [[edge(i) for i in buffer.numbers(graph, number, "i")] for number in (1, 2)]


def smooth(random, edge, fill):
    """Returns real numbers over a share of the range of a quantized input; neighbours are similar."""
    coarse = [(extent + 3) // 4 for extent in edge.dims]
    x = random.uniform(0, 1, coarse)
    for axis, extent in enumerate(edge.dims):
        x = numpy.take(numpy.repeat(x, 4, axis), range(extent), axis)
    x = 0.5 + fill * (0.9 * x + 0.1 * random.uniform(0, 1, edge.dims) - 0.5)
    if edge.dtype.kind == "f":
        return 2 * x - 1
    bounds = numpy.iinfo(edge.dtype)
    low, high = edge.real(numpy.array(bounds.min)), edge.real(numpy.array(bounds.max))
    return low + (high - low) * x


def run_ember(model, tier, calls, results):
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for inputs in calls:
            command = [os.path.join(BIN, "vm-run"), model, f"--tier={tier}", "--threads=1", "--print=none"]
            for i, x in enumerate(inputs):
                numpy.save(f"{folder}/in{i}.npy", x)
                command.append(f"--input=@{folder}/in{i}.npy")
            command += [f"--output=@{folder}/out{i}.npy" for i in range(len(results))]
            done = subprocess.run(command, capture_output=True, text=True, preexec_fn=children.end_with_parent)
            if done.returncode != 0:
                raise RuntimeError(f"vm-run {model}: {(done.stderr.strip() or 'no message').splitlines()[-1]}")
            found.append([numpy.load(f"{folder}/out{i}.npy").reshape(edge.dims) for i, edge in enumerate(results)])
    return found


def run_browsers(model, calls, results):
    command = ["node", os.path.join(ROOT, "tools/tflite_wasm.mjs"), model, str(len(calls))]
    done = subprocess.run(command, input=b"".join(x.tobytes() for inputs in calls for x in inputs), capture_output=True,
                          env=dict(os.environ, TFLITE_DIR=TFLITE_DIR), preexec_fn=children.end_with_parent)
    if done.returncode != 0:
        raise RuntimeError(f"tflite_wasm.mjs {model}: {(done.stderr.decode().strip() or 'no message').splitlines()[-1]}")
    found, at = [], 0
    for _ in calls:
        found.append([])
        for edge in results:
            count = int(numpy.prod(edge.dims, dtype=numpy.int64))
            found[-1].append(numpy.frombuffer(done.stdout, edge.dtype, count, at).reshape(edge.dims))
            at += count * edge.dtype.itemsize
    return found


def run_library(path, model, calls, results):
    library = ctypes.CDLL(path)
    pointer = ctypes.c_void_p

    def call(name, restype, *arguments):
        function = getattr(library, "TfLite" + name)
        function.restype = restype
        return function(*[pointer(a) if isinstance(a, int) and a > 2**16 else a for a in arguments])

    loaded = call("ModelCreateFromFile", pointer, model.encode())
    options = call("InterpreterOptionsCreate", pointer)
    call("InterpreterOptionsSetNumThreads", None, options, 1)
    interpreter = call("InterpreterCreate", pointer, loaded, options) if loaded else None
    if interpreter is None or call("InterpreterAllocateTensors", ctypes.c_int, interpreter) != 0:
        raise RuntimeError(f"{path}: {model}: the model does not load")
    found = []
    for inputs in calls:
        for i, x in enumerate(inputs):
            tensor = call("InterpreterGetInputTensor", pointer, interpreter, i)
            call("TensorCopyFromBuffer", ctypes.c_int, tensor, x.ctypes.data_as(pointer), ctypes.c_size_t(x.nbytes))
        if call("InterpreterInvoke", ctypes.c_int, interpreter) != 0:
            raise RuntimeError(f"{path}: {model}: the model does not run")
        found.append([numpy.empty(edge.dims, edge.dtype) for edge in results])
        for i, y in enumerate(found[-1]):
            tensor = call("InterpreterGetOutputTensor", pointer, interpreter, i)
            call("TensorCopyToBuffer", ctypes.c_int, tensor, y.ctypes.data_as(pointer), ctypes.c_size_t(y.nbytes))
    return found


def rms(numbers):
    return float(numpy.sqrt(numpy.mean(numpy.square(numbers))))


def compare(options, quantized, twin):
    given, results = edges_of(quantized)
    twin_given, twin_results = edges_of(twin)
    if [e.dims for e in given + results] != [e.dims for e in twin_given + twin_results]:
        raise RuntimeError(f"{quantized}: expected a twin with the same inputs and results, found {twin} with others")
    random = numpy.random.default_rng(options.seed)
    calls = [[edge.stored(smooth(random, edge, options.fill)) for edge in given] for _ in range(options.inputs)]
    twin_calls = [[t.stored(edge.real(x)) for edge, t, x in zip(given, twin_given, inputs)] for inputs in calls]
    wanted = run_ember(twin, options.tier, twin_calls, twin_results)
    engines = {"Ember": run_ember(quantized, options.tier, calls, results)}
    if options.library:
        engines["library"] = run_library(options.library, quantized, calls, results)
    engines["browsers"] = run_browsers(quantized, calls, results)

    def flat(found, edges):
        return numpy.concatenate([edge.real(y).ravel() for outputs in found for edge, y in zip(edges, outputs)])

    want = flat(wanted, twin_results)
    values = {name: flat(found, results) for name, found in engines.items()}
    cells = [os.path.basename(quantized)]
    cells += [f"{rms(found - want):.4g}" if name in values else "" for name, found in
              ((name, values.get(name, want)) for name in ("Ember", "library", "browsers"))]
    cells.append(f"{rms(want):.4g}")
    cells += [f"{100 * numpy.mean(values[name] == values['Ember']):.1f}%" if name in values else "" for name in ("library", "browsers")]
    print("| " + " | ".join(cells) + " |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs", nargs="+", metavar="QUANTIZED=TWIN")
    parser.add_argument("--inputs", type=int, default=100)
    parser.add_argument("--fill", type=float, default=1)
    parser.add_argument("--tier", default="0")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--library")
    options = parser.parse_args()
    if options.inputs < 1 or not 0 < options.fill <= 1:
        parser.error("--inputs, --fill: expected at least one input, and a share above 0 and up to 1")
    pairs = [pair.split("=", 1) for pair in options.pairs]
    for pair in pairs:
        if len(pair) != 2 or not all(os.path.isfile(path) for path in pair):
            parser.error(f"{'='.join(pair)}: expected two files as QUANTIZED.tflite=TWIN.tflite")
    print("| model | Ember | library | browsers | twin's own size | equal to library | equal to browsers |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    failed = False
    for quantized, twin in pairs:
        try:
            compare(options, quantized, twin)
        except (OSError, RuntimeError) as error:
            print(f"tflite_twins: {error}", file=sys.stderr)
            failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
