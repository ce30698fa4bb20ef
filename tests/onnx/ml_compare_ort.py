#!/usr/bin/python3
"""Writes random models of ai.onnx.ml with ONNX Runtime's results, as backend-test folders.

usage: ml_compare_ort.py --out DIR [--seed 1] [--count 20] [--operator NAME]...
then:  conformance --suite DIR [--filter '*TreeEnsemble*']

Each operator gets COUNT models of random attributes, input types and shapes; every folder has model.onnx
and test_data_set_0 with ONNX Runtime's outputs. A model that ONNX Runtime refuses is left out, and its
message printed. Cases are not drawn in which ONNX Runtime 1.30 deviates from the specification or returns
uninitialised memory: PROBIT of one score for two classes, TreeEnsemble's transforms 1 and 2 (exchanged), base
values of targets that get no vote, two base values for two classes, two labels other than 0 and 1, rows
without a vote for the second of two classes, sets of fractions or their test of one. A model depends on (seed, operator, number) only, so the same three
make one case again. Needs Debian's python3-onnx and python3-numpy, node, and ORT_DIR, where
`npm install --ignore-scripts onnxruntime-node@1.30.0` was run (~/.cache/ember/ort).
"""

import argparse
import json
import os
import shutil
import subprocess
import sys

import numpy as np
from onnx import TensorProto, helper, numpy_helper

CACHE = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
ORT_DIR = os.environ.get("ORT_DIR") or os.path.join(CACHE, "ember/ort")

RUNNER = """
const {createRequire} = require('module');
const ort = createRequire(process.env.ORT_DIR + '/x.js')('onnxruntime-node');
const TYPES = {float32: Float32Array, float64: Float64Array, int32: Int32Array, int64: BigInt64Array,
               int16: Int16Array};
const text = v => typeof v === 'number' && !Number.isFinite(v) ? String(v) : Number(v);
(async () => {
  for (const item of JSON.parse(require('fs').readFileSync(0))) {
    try {
      const s = await ort.InferenceSession.create(item.model, {logSeverityLevel: 4, intraOpNumThreads: 1});
      const feeds = {};
      for (const [name, t] of Object.entries(item.inputs)) {
        const make = t.type === 'int64' ? BigInt : Number;
        feeds[name] = new ort.Tensor(t.type, TYPES[t.type].from(t.data.map(make)), t.dims);
      }
      const got = await s.run(feeds);
      const results = s.outputNames.map(n => ({type: got[n].type, dims: got[n].dims, data: Array.from(got[n].data, text)}));
      console.log(JSON.stringify({results}));
    } catch (e) { console.log(JSON.stringify({error: e.message.split('\\n')[0]})); }
  }
})();
"""

FLOATS = ["float32", "float64", "int32", "int64"]
TRANSFORMS = ["NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"]
MODES = ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ"]


def floats(values):
    return [float(v) for v in np.asarray(values, np.float32).ravel()]


def features(rng, rows, columns, dtype, with_nan=False):
    """Returns values on a coarse grid, so that some equal a threshold exactly."""
    x = np.round(rng.normal(size=(rows, columns)) * 4) / (2 if dtype.startswith("float") else 1)
    if with_nan and dtype.startswith("float"):
        x[rng.random(x.shape) < 0.15] = np.nan
    return x.astype(dtype)


def labels(rng, count, suffix="ints"):
    return {"classlabels_" + suffix: [int(v) for v in rng.permutation(count * 3)[:count] - 2]}


# --- trees ---


def random_tree(rng, depth):
    """Returns a tree of nested tuples (feature, value, mode, missing, true, false); a leaf is None."""
    if depth == 0 or rng.random() < 0.15:
        return None
    return [int(rng.integers(0, 4)), float(np.round(rng.normal() * 4) / 2), None, int(rng.random() < 0.5),
            random_tree(rng, depth - 1), random_tree(rng, depth - 1)]


def set_modes(tree, choose):
    if tree is not None:
        tree[2] = choose()
        set_modes(tree[4], choose)
        set_modes(tree[5], choose)


def tree_nodes(rng, trees, votes):
    """Returns attributes of the nodes; votes(tree) yields (target, weight) of a leaf."""
    a = {k: [] for k in ("nodes_treeids", "nodes_nodeids", "nodes_featureids", "nodes_values", "nodes_modes",
                         "nodes_truenodeids", "nodes_falsenodeids", "nodes_missing_value_tracks_true")}
    v = {k: [] for k in ("treeids", "nodeids", "ids", "weights")}

    def add(tree_id, tree, next_id):
        node = len(a["nodes_treeids"])
        own = next_id[0]
        next_id[0] += 1
        leaf = tree is None
        fields = [tree_id, own, 0, 0.0, "LEAF", 0, 0, 0] if leaf else [tree_id, own, tree[0], tree[1], tree[2], 0, 0, tree[3]]
        for key, value in zip(a, fields):
            a[key].append(value)
        if leaf:
            for target, weight in votes(tree_id):
                for key, value in zip(v, (tree_id, own, target, weight)):
                    v[key].append(value)
            return own
        a["nodes_truenodeids"][node] = add(tree_id, tree[4], next_id)
        a["nodes_falsenodeids"][node] = add(tree_id, tree[5], next_id)
        return own

    for tree_id, tree in enumerate(trees):
        add(tree_id, tree, [0])
    a["nodes_values"] = floats(a["nodes_values"])
    v["weights"] = floats(v["weights"])
    if rng.random() < 0.4:
        del a["nodes_missing_value_tracks_true"]
    return a, v


def draw_trees(rng):
    trees = [random_tree(rng, int(rng.integers(0, 6))) for _ in range(int(rng.integers(1, 9)))]
    if rng.random() < 0.6:
        mode = rng.choice(MODES)
        choose = lambda: str(mode)
    else:
        choose = lambda: str(rng.choice(MODES))
    for tree in trees:
        set_modes(tree, choose)
    return trees


def vote_rule(rng, targets, positive, two_classes):
    kind = "all" if two_classes else rng.choice(["tree", "leaf", "all"])
    fixed = int(rng.integers(0, targets))
    one = rng.random() < 0.3
    weight = lambda: float(abs(rng.normal()) if positive else rng.normal()) * 0.3

    def votes(tree_id):
        if one:
            return [(fixed, weight())]
        if kind == "tree":
            return [(tree_id % targets, weight())]
        if kind == "leaf":
            return [(int(rng.integers(0, targets)), weight())]
        return [(t, weight()) for t in range(targets)]

    return votes


def as_double(attributes, key):
    values = np.array(attributes.pop(key), np.float64)
    attributes[key + "_as_tensor"] = numpy_helper.from_array(values, key)


def tree_case(rng, vote, targets):
    dtype = rng.choice(FLOATS)
    two = vote == "class" and targets == 2
    nodes, votes = tree_nodes(rng, draw_trees(rng), vote_rule(rng, targets, rng.random() < 0.5, two))
    attributes = {**nodes, **{f"{vote}_{k}": v for k, v in votes.items()}}
    attributes["post_transform"] = str(rng.choice(TRANSFORMS[:4] if two else TRANSFORMS)) if rng.random() < 0.6 else "NONE"
    if rng.random() < 0.4 and (targets == 1 or vote == "class"):
        attributes["base_values"] = floats(rng.normal(size=1 if two else targets))
    if dtype == "float64" and rng.random() < 0.5:
        for key in ("nodes_values", f"{vote}_weights", "base_values"):
            if attributes.get(key):
                as_double(attributes, key)
    return attributes, {"x": features(rng, int(rng.integers(1, 30)), 4, dtype, rng.random() < 0.5)}


def tree_ensemble_regressor(rng):
    targets = int(rng.choice([1, 1, 2, 3]))
    attributes, inputs = tree_case(rng, "target", targets)
    attributes["n_targets"] = targets
    attributes["aggregate_function"] = str(rng.choice(["SUM", "AVERAGE", "MIN", "MAX"]))
    return attributes, inputs, ["float32"]


def tree_ensemble_classifier(rng):
    classes = int(rng.choice([2, 2, 3, 4]))
    attributes, inputs = tree_case(rng, "class", classes)
    attributes.update({"classlabels_int64s": [0, 1]} if classes == 2 else labels(rng, classes, "int64s"))
    return attributes, inputs, ["int64", "float32"]


def tree_ensemble(rng):
    dtype = rng.choice(["float32", "float64"])
    targets = int(rng.integers(1, 4))
    nodes = {k: [] for k in ("nodes_featureids", "nodes_truenodeids", "nodes_falsenodeids", "nodes_trueleafs",
                             "nodes_falseleafs", "nodes_missing_value_tracks_true")}
    splits, modes, members, weights, ids, roots = [], [], [], [], [], []

    def leaf():
        weights.append(rng.normal())
        ids.append(int(rng.integers(0, targets)))
        return len(weights) - 1

    def add(tree):
        own = len(splits)
        for key in nodes:
            nodes[key].append(0)
        mode = tree[2]
        splits.append(tree[1])
        modes.append(mode)
        nodes["nodes_featureids"][own] = tree[0]
        nodes["nodes_missing_value_tracks_true"][own] = tree[3]
        if mode == 6:
            members.extend([float(v) for v in rng.integers(-3, 4, int(rng.integers(1, 8)))] + [np.nan])
        for side, child in (("true", tree[4]), ("false", tree[5])):
            nodes[f"nodes_{side}leafs"][own] = int(child is None)
            nodes[f"nodes_{side}nodeids"][own] = leaf() if child is None else add(child)
        return own

    with_members = rng.random() < 0.5
    one = int(rng.integers(0, 6))
    uniform = rng.random() < 0.5
    for _ in range(int(rng.integers(1, 7))):
        tree = random_tree(rng, int(rng.integers(1, 5))) or [0, 0.5, None, 0, None, None]
        set_modes(tree, lambda: 6 if with_members and rng.random() < 0.4 else one if uniform else int(rng.integers(0, 6)))
        roots.append(add(tree))
    tensor = lambda name, values, t=dtype: numpy_helper.from_array(np.array(values, t), name)
    attributes = {**nodes, "nodes_splits": tensor("splits", splits), "nodes_modes": tensor("modes", modes, np.uint8),
                  "leaf_weights": tensor("weights", weights), "leaf_targetids": ids, "tree_roots": roots,
                  "n_targets": targets, "aggregate_function": int(rng.integers(0, 4)),
                  "post_transform": int(rng.choice([0, 3, 4]))}
    if members:
        attributes["membership_values"] = tensor("members", members)
    if rng.random() < 0.4:
        del attributes["nodes_missing_value_tracks_true"]
    x = features(rng, int(rng.integers(1, 20)), 4, dtype, rng.random() < 0.5)
    return attributes, {"x": np.floor(x) if members else x}, [dtype]


# --- linear models, support vectors ---


def linear_classifier(rng):
    classes = int(rng.choice([2, 2, 3, 5]))
    rows = 1 if classes == 2 and rng.random() < 0.5 else classes
    attributes = {"coefficients": floats(rng.normal(size=rows * 4) * 0.3), "intercepts": floats(rng.normal(size=rows) * 0.3),
                  "post_transform": str(rng.choice(TRANSFORMS[:4])), "multi_class": int(rng.integers(0, 2)), **labels(rng, classes)}
    return attributes, {"x": features(rng, int(rng.integers(1, 12)), 4, rng.choice(FLOATS))}, ["int64", "float32"]


def linear_regressor(rng):
    targets = int(rng.choice([1, 2, 3]))
    attributes = {"coefficients": floats(rng.normal(size=targets * 4) * 0.3), "targets": targets,
                  "post_transform": str(rng.choice(TRANSFORMS))}
    if rng.random() < 0.7:
        attributes["intercepts"] = floats(rng.normal(size=targets) * 0.3)
    return attributes, {"x": features(rng, int(rng.integers(1, 12)), 4, "float32")}, ["float32"]


def kernel(rng):
    kind = str(rng.choice(["LINEAR", "POLY", "RBF", "SIGMOID"]))
    return {"kernel_type": kind, "kernel_params": floats([0.2, rng.normal() * 0.3, rng.integers(1, 5)])}


def svm_regressor(rng):
    supports = int(rng.choice([0, 1, 7]))
    attributes = {**kernel(rng), "n_supports": supports, "rho": floats(rng.normal(size=1)),
                  "coefficients": floats(rng.normal(size=supports or 4)), "one_class": int(rng.random() < 0.3)}
    if supports:
        attributes["support_vectors"] = floats(rng.normal(size=supports * 4))
    return attributes, {"x": features(rng, int(rng.integers(1, 12)), 4, "float32")}, ["float32"]


def svm_classifier(rng):
    classes = int(rng.choice([2, 2, 3, 4]))
    sizes = [int(v) for v in rng.integers(1, 5, size=classes)] if rng.random() < 0.8 else []
    attributes = {**kernel(rng), **labels(rng, classes), "post_transform": str(rng.choice(TRANSFORMS[:4]))}
    pairs = classes * (classes - 1) // 2
    if sizes:
        attributes.update(vectors_per_class=sizes, support_vectors=floats(rng.normal(size=sum(sizes) * 4)),
                          coefficients=floats(rng.normal(size=sum(sizes) * (classes - 1))), rho=floats(rng.normal(size=pairs)))
        if rng.random() < 0.5:
            attributes.update(prob_a=floats(-1 - rng.random(pairs)), prob_b=floats(rng.normal(size=pairs) * 0.2))
    else:
        positive = rng.random() < 0.5
        values = rng.normal(size=classes * 4)
        attributes.update(coefficients=floats(abs(values) if positive else values), rho=floats(rng.normal(size=1)))
    return attributes, {"x": features(rng, int(rng.integers(1, 12)), 4, rng.choice(FLOATS))}, ["int64", "float32"]


# --- features ---


def scaler(rng):
    size = int(rng.choice([1, 4]))
    x = features(rng, int(rng.integers(1, 6)), 4, rng.choice(FLOATS))
    return {"offset": floats(rng.normal(size=size)), "scale": floats(rng.normal(size=size))}, {"x": x}, ["float32"]


def normalizer(rng):
    x = features(rng, int(rng.integers(1, 6)), 4, rng.choice(FLOATS))
    x[0] = 0
    return {"norm": str(rng.choice(["MAX", "L1", "L2"]))}, {"x": x if rng.random() < 0.7 else x[-1]}, ["float32"]


def binarizer(rng):
    return {"threshold": float(np.round(rng.normal() * 2) / 2)}, {"x": features(rng, 3, 4, "float32")}, ["float32"]


def imputer(rng):
    size = int(rng.choice([1, 4]))
    if rng.random() < 0.5:
        x = features(rng, 5, 4, "int64")
        return {"imputed_value_int64s": [int(v) for v in rng.integers(0, 99, size)], "replaced_value_int64": 1}, {"x": x}, ["int64"]
    nan = rng.random() < 0.5
    x = features(rng, 5, 4, "float32", True)
    return {"imputed_value_floats": floats(rng.normal(size=size)), "replaced_value_float": float("nan") if nan else 0.5}, {"x": x}, ["float32"]


def feature_vectorizer(rng):
    dtype, rows = rng.choice(FLOATS), int(rng.integers(1, 4))
    inputs = {f"x{i}": features(rng, rows, int(rng.integers(1, 5)), dtype) for i in range(int(rng.integers(1, 4)))}
    sizes = [int(rng.integers(1, 6)) if rng.random() < 0.5 else x.shape[1] for x in inputs.values()]
    return {"inputdimensions": sizes}, inputs, ["float32"]


def array_feature_extractor(rng):
    dtype = str(rng.choice(FLOATS))
    x = features(rng, 3, 5, dtype)
    shape = (1, 3) if rng.random() < 0.5 else (3,)
    return {}, {"x": x if rng.random() < 0.7 else x[0], "y": rng.integers(0, 5, shape).astype("int64")}, [dtype]


def one_hot_encoder(rng):
    cats = [int(v) for v in rng.permutation(9)[:5] - 4]
    x = features(rng, 3, 4, rng.choice(["float32", "float64", "int64"]))
    return {"cats_int64s": cats, "zeros": 1}, {"x": x if rng.random() < 0.7 else x[0]}, ["float32"]


def label_encoder(rng):
    key = str(rng.choice(["int64", "float32"]))
    value = "int64" if key == "float32" else "float32"
    count = int(rng.choice([1, 3, 5, 12, 100]))
    keys = rng.permutation(300)[:count] - 20
    if rng.random() < 0.3:
        keys = np.arange(count) - 1
    x = rng.integers(-30, 300, size=(4, 7)).astype(key)
    x.flat[: min(count, 9)] = keys[:9]
    names = {"int64": "int64s", "float32": "floats"}
    values = rng.integers(-99, 99, count)
    attributes = {"keys_" + names[key]: [int(k) for k in keys] if key == "int64" else floats(keys / 2),
                  "values_" + names[value]: [int(v) for v in values] if value == "int64" else floats(values),
                  ("default_int64" if value == "int64" else "default_float"): 7 if value == "int64" else 7.5}
    if key == "float32":
        x = x / np.float32(2)
        if rng.random() < 0.5:
            attributes["keys_floats"][0] = float("nan")
            x.flat[0] = np.nan
    return attributes, {"x": x.astype(key)}, [value]


OPERATORS = {
    "TreeEnsemble": (tree_ensemble, 5), "TreeEnsembleClassifier": (tree_ensemble_classifier, 3),
    "TreeEnsembleRegressor": (tree_ensemble_regressor, 3), "LinearClassifier": (linear_classifier, 1),
    "LinearRegressor": (linear_regressor, 1), "SVMClassifier": (svm_classifier, 1), "SVMRegressor": (svm_regressor, 1),
    "Scaler": (scaler, 1), "Normalizer": (normalizer, 1), "Binarizer": (binarizer, 1), "Imputer": (imputer, 1),
    "FeatureVectorizer": (feature_vectorizer, 1), "ArrayFeatureExtractor": (array_feature_extractor, 1),
    "OneHotEncoder": (one_hot_encoder, 1), "LabelEncoder": (label_encoder, 4),
}


def onnx_type(dtype):
    return helper.np_dtype_to_tensor_dtype(np.dtype(dtype)) if hasattr(helper, "np_dtype_to_tensor_dtype") else {
        "float32": TensorProto.FLOAT, "float64": TensorProto.DOUBLE, "int32": TensorProto.INT32,
        "int64": TensorProto.INT64}[np.dtype(dtype).name]


def make_case(folder, operator, seed, number):
    draw, opset = OPERATORS[operator]
    rng = np.random.default_rng([seed, number, sum(map(ord, operator))])
    attributes, inputs, results = draw(rng)
    outputs = [f"y{i}" for i in range(len(results))]
    node = helper.make_node(operator, list(inputs), outputs, domain="ai.onnx.ml", **attributes)
    graph = helper.make_graph(
        [node], "g", [helper.make_tensor_value_info(k, onnx_type(v.dtype), v.shape) for k, v in inputs.items()],
        [helper.make_tensor_value_info(k, onnx_type(t), None) for k, t in zip(outputs, results)])
    opsets = [helper.make_opsetid("", 15), helper.make_opsetid("ai.onnx.ml", opset)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=8)
    data = os.path.join(folder, "test_data_set_0")
    os.makedirs(data, exist_ok=True)
    with open(os.path.join(folder, "model.onnx"), "wb") as file:
        file.write(model.SerializeToString())
    for i, (name, value) in enumerate(inputs.items()):
        with open(os.path.join(data, f"input_{i}.pb"), "wb") as file:
            file.write(numpy_helper.from_array(np.ascontiguousarray(value), name).SerializeToString())
    plain = lambda v: [float(e) if np.isfinite(e) else str(e).replace("nan", "NaN") for e in v.ravel().tolist()]
    return {"folder": folder, "model": os.path.join(folder, "model.onnx"), "outputs": outputs,
            "inputs": {k: {"type": v.dtype.name, "dims": list(v.shape), "data": plain(v)} for k, v in inputs.items()}}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--operator", action="append", choices=OPERATORS)
    options = parser.parse_args()
    cases = [make_case(os.path.join(options.out, f"{operator}_{options.seed}_{i}"), operator, options.seed, i)
             for operator in options.operator or OPERATORS for i in range(options.count)]
    done = subprocess.run(["node", "-e", RUNNER], input=json.dumps(cases), capture_output=True, text=True,
                          env=dict(os.environ, ORT_DIR=ORT_DIR))
    lines = done.stdout.splitlines()
    if len(lines) != len(cases):
        sys.exit(f"ml_compare_ort: ONNX Runtime ended early: {done.stderr.strip()[-400:]}")
    refused = 0
    for case, line in zip(cases, lines):
        answer = json.loads(line)
        if "error" in answer:
            refused += 1
            print(f"left out {os.path.basename(case['folder'])}: {answer['error'][:200]}")
            shutil.rmtree(case["folder"])
            continue
        for i, result in enumerate(answer["results"]):
            value = np.array([float(v) for v in result["data"]]).astype(result["type"]).reshape(result["dims"])
            with open(os.path.join(case["folder"], "test_data_set_0", f"output_{i}.pb"), "wb") as file:
                file.write(numpy_helper.from_array(value, case["outputs"][i]).SerializeToString())
    print(f"{len(cases) - refused} cases in {options.out}, {refused} left out")


if __name__ == "__main__":
    main()
