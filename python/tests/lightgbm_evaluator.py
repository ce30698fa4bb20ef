"""Predicts with a LightGBM text model, row by row, by the rules of LightGBM's documentation.

It shares no code with ember.estimators. Also writes random models in that format.
"""

import math

import numpy as np


def random_model(random, *, objective, classes=1, trees=5, leaves=8, features=5, average=False):
    """Returns a model with splits by number (with and without rules for NaN) and by category."""
    lines = ["tree", "version=v4", f"num_class={classes}", f"num_tree_per_iteration={classes}", "label_index=0"]
    lines += [f"max_feature_idx={features - 1}", f"objective={objective}"]
    lines += ["average_output"] * average
    lines += ["feature_names=" + " ".join(f"f{i}" for i in range(features)), "tree_sizes=1", ""]
    for n in range(trees * classes):
        lines += _random_tree(random, n, leaves if n != 1 else 1, features) + ["", ""]
    return ("\n".join([*lines, "end of trees", "", "pandas_categorical:null", ""])).encode()


def _random_tree(random, number, leaves, features):
    branches, categories, words = leaves - 1, 0, []
    left, right, split, threshold, decision = [], [], [], [], []
    # Grows the tree: each new branch takes the place of a random leaf.
    for n in range(branches):
        if n > 0:
            side, parent = random.choice([(s, p) for s in (0, 1) for p in range(n) if (left, right)[s][p] < 0])
            leaf = ~(left, right)[side][parent]
            (left, right)[side][parent] = n
        else:
            leaf = 0
        left.append(~leaf)
        right.append(~(n + 1))
        # Splits on the last feature test for membership in a set of categories; those on other
        # features compare numbers.
        split.append(int(random.integers(features)))
        if split[-1] == features - 1:
            decision.append(1)
            threshold.append(categories)
            categories += 1
            words += [int(random.integers(1, 2**31)), int(random.integers(0, 4))]
        else:
            decision.append(2 * int(random.integers(2)) + 4 * int(random.choice([0, 2])))
            threshold.append(repr(float(random.normal())))
    rows = {
        "num_leaves": [leaves],
        "num_cat": [categories],
        "split_feature": split,
        "threshold": threshold,
        "decision_type": decision,
        "left_child": left,
        "right_child": right,
        "leaf_value": [repr(float(v)) for v in random.normal(size=leaves)],
    }
    if categories:
        rows["cat_boundaries"] = list(range(0, 2 * categories + 1, 2))
        rows["cat_threshold"] = words
    body = [f"{key}={' '.join(map(str, values))}" for key, values in rows.items() if values]
    return [f"Tree={number}", *body, "shrinkage=1"]


def _parse(data):
    header, *trees = data.decode().split("end of trees")[0].split("Tree=")
    read = [dict(line.split("=", 1) for line in t.splitlines() if "=" in line) for t in (header, *trees)]
    return read[0], read[1:], "average_output" in header


def _leaf(tree, row):
    def field(key, node):
        return tree[key].split()[node]

    if int(tree["num_leaves"]) == 1:
        return float(tree["leaf_value"])
    node = 0
    while node >= 0:
        value, kind = float(row[int(field("split_feature", node))]), int(field("decision_type", node))
        if kind & 1:
            bounds = tree["cat_boundaries"].split()
            index = int(field("threshold", node))
            words = tree["cat_threshold"].split()[int(bounds[index]) : int(bounds[index + 1])]
            category = -1 if math.isnan(value) else int(value)
            goes_left = 0 <= category < 32 * len(words) and int(words[category // 32]) >> category % 32 & 1
        elif math.isnan(value) and kind >> 2 == 2:
            goes_left = kind & 2
        else:
            goes_left = (0.0 if math.isnan(value) else value) <= float(field("threshold", node))
        node = int(field("left_child" if goes_left else "right_child", node))
    return float(field("leaf_value", ~node))


def predict(data, rows):
    """Returns [N], or [N, classes]."""
    header, trees, average = _parse(data)
    classes, objective = int(header["num_class"]), header["objective"].split()
    sums = np.zeros((len(rows), classes))
    for n, tree in enumerate(trees):
        sums[:, n % classes] += [_leaf(tree, row) for row in rows]
    if average:
        sums /= len(trees) // classes
    options = dict(w.split(":") for w in objective[1:] if ":" in w)
    if objective[0] in ("binary", "multiclassova"):
        sums = 1 / (1 + np.exp(-float(options["sigmoid"]) * sums))
    elif objective[0] == "multiclass":
        powers = np.exp(sums - sums.max(axis=1, keepdims=True))
        sums = powers / powers.sum(axis=1, keepdims=True)
    elif objective[0] == "poisson":
        sums = np.exp(sums)
    elif "sqrt" in objective:
        sums = np.sign(sums) * sums**2
    return sums[:, 0] if classes == 1 else sums
