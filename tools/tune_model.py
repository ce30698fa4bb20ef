#!/usr/bin/python3
"""Trains the tuner's cost model on measured schedules, and evaluates it on dispatches and targets that it has not seen.

usage: tune_model.py evaluate TIMES... [--hold-target=NAME | --test=TIMES]
       tune_model.py train TIMES... -o tune/model/trees.bin
TIMES are files of tests/tuning/collect_times, with a line per schedule: key of the task, name, target, origin, seconds,
features. Needs Debian's python3-xgboost (/usr/bin/python3). ./dev tune-model does all of it.

The score of a schedule is ln of a speed. The trees add to the analytic estimate what it misses. Their loss compares the
schedules of a task with each other: the squared differences of score differences and measured ones over all pairs, in
which fast schedules count more. Several ensembles, each trained on other dispatches, give the deviation.

Figures of an evaluation, each the mean over tasks: top-k is the time of the best schedule over that of the best among the
model's first k; pairs is the share of pairs, more than 5% apart in time, that the model orders right.
"""
import argparse
import json
import struct
import sys
import zlib

import numpy as np
import xgboost

ENSEMBLES = 4
TREES = 60
# Share of the analytic estimate in a schedule's score; the rest is the trees' prediction. The
# order of schedules is slightly worse with 0 and with 1.
SHARE = 0.5
# Difference of ln(time) from the fastest schedule of a task at which a schedule has half the weight
# in training.
HALF_WEIGHT = 0.7
# Largest difference of ln(time) from the fastest schedule that is learnt. Slower schedules
# are clipped to it, because it is enough to know that they are slow.
SLOWEST = 3.0
PARAMETERS = {"max_depth": 6, "eta": 0.12, "subsample": 0.8, "colsample_bytree": 0.5, "min_child_weight": 4,
              "lambda": 2.0, "tree_method": "hist", "verbosity": 0, "base_score": 0.0, "nthread": 1}
# The names of the features are in tune/model/feature_table.h.
TABLE = "tune/model/feature_table.h"


def feature_names():
    names = []
    with open(TABLE, encoding="utf-8") as f:
        for line in f:
            if line.strip().startswith("row("):
                names.append(line.split('"')[1])
    return names


def feature_version():
    with open("tune/model/nest_features.h", encoding="utf-8") as f:
        for line in f:
            if "kFeatureVersion =" in line:
                return int(line.split("=")[1].strip(" ;\n"))
    raise SystemExit("tune_model.py: found no kFeatureVersion in tune/model/nest_features.h")


class Data:
    """Rows of schedules, ordered by task. speed: ln of speed, 0 for the fastest of the task."""

    def __init__(self, paths):
        rows = {}
        names = feature_names()
        for path in paths:
            with open(path, encoding="utf-8") as f:
                for line in f:
                    key, name, target, origin, seconds, features = line.rstrip("\n").split("\t")
                    values = np.array(features.split(), dtype=np.float32)
                    if len(values) != len(names):
                        raise SystemExit("tune_model.py: %s: expected %d features, found %d; collect again"
                                         % (path, len(names), len(values)))
                    rows.setdefault((key, target), []).append((name, origin, float(seconds), values))
        self.tasks = []  # one entry for each task: (model, target, name, first row, row after the
                         # last)
        features, speeds, self.origins, self.is_default = [], [], [], []
        for (_, target), group in rows.items():
            if len(group) < 6:
                continue
            first = len(speeds)
            best = min(row[2] for row in group)
            for i, row in enumerate(group):
                features.append(row[3])
                speeds.append(np.log(best / row[2]))
                self.origins.append(row[1])
                self.is_default.append(i == 0)
            model = group[0][0].split("/")[0]
            self.tasks.append((model, target, group[0][0], first, len(speeds)))
        self.features = np.array(features, dtype=np.float32)
        self.speed = np.array(speeds)
        self.group = np.zeros(len(speeds), dtype=int)
        for number, task in enumerate(self.tasks):
            self.group[task[3]:task[4]] = number
        estimate = names.index("estimate_cycles")
        self.analytic = -np.log(2) * self.features[:, estimate].astype(float)

    def rows_of(self, tasks):
        return np.concatenate([np.arange(self.tasks[t][3], self.tasks[t][4]) for t in tasks])

    def fold_of(self, task, folds):
        """Models are in one fold whole, so that no near copy of a dispatch is trained on."""
        return zlib.crc32(self.tasks[task][0].encode()) % folds


def centre(values, weights, group):
    """Subtracts from each value the weighted mean of its group."""
    count = group.max() + 1
    sums = np.bincount(group, weights * values, count)
    total = np.bincount(group, weights, count)
    return values - (sums / np.maximum(total, 1e-12))[group]


def train_ensemble(data, tasks, seed, share, trees=TREES):
    rows = data.rows_of(tasks)
    group = np.unique(data.group[rows], return_inverse=True)[1]
    target = np.maximum(data.speed[rows], -SLOWEST)
    weight = 0.05 + np.exp2(target / HALF_WEIGHT)

    def loss(scores, _):
        error = centre(scores - target, weight, group)
        return weight * error, weight

    matrix = xgboost.DMatrix(data.features[rows], base_margin=share * data.analytic[rows])
    return xgboost.train(dict(PARAMETERS, seed=seed), matrix, trees, obj=loss)


def train(data, tasks, share, seed=1):
    """Returns the ensembles; each is trained without a quarter of the models."""
    boosters = []
    for i in range(ENSEMBLES):
        kept = [t for t in tasks if zlib.crc32(("%d %s" % (i, data.tasks[t][0])).encode()) % 4 != 0]
        boosters.append(train_ensemble(data, kept, seed + i, share))
    return boosters


def predict(data, rows, boosters, share):
    matrix = xgboost.DMatrix(data.features[rows], base_margin=share * data.analytic[rows])
    each = np.array([b.predict(matrix, output_margin=True) for b in boosters])
    return each.mean(axis=0), each.std(axis=0)


def figures(data, tasks, score):
    """Returns the mean top-1, top-5 and pairwise order of the tasks. score: of all rows."""
    top1, top5, pairs = [], [], []
    for t in tasks:
        _, _, _, first, end = data.tasks[t]
        speed, scores = data.speed[first:end], score[first:end]
        order = np.argsort(-scores, kind="stable")
        top1.append(np.exp(speed[order[0]]))
        top5.append(np.exp(speed[order[:5]].max()))
        difference = speed[:, None] - speed[None, :]
        counts = difference > np.log(1.05)
        if counts.any():
            pairs.append((scores[:, None] > scores[None, :])[counts].mean())
    return np.mean(top1), np.mean(top5), np.mean(pairs)


def random_figures(data, tasks):
    rng = np.random.default_rng(1)
    return np.mean([figures(data, tasks, rng.random(len(data.speed))) for _ in range(20)], axis=0)


def print_figures(label, numbers):
    print("%-44s %6.3f %6.3f %6.3f" % ((label,) + tuple(numbers)))


def residual_deviation(data, tasks, score):
    errors = []
    for t in tasks:
        _, _, _, first, end = data.tasks[t]
        error = np.maximum(data.speed[first:end], -SLOWEST) - score[first:end]
        errors.append(error - error.mean())
    return float(np.concatenate(errors).std())


def evaluate(data, hold_target, share, folds=5):
    tasks = list(range(len(data.tasks)))
    if hold_target:
        # The test tasks have a target that is not trained on. In addition, their dispatches are not
        # trained on for any target, because all targets of a dispatch are in one fold.
        held = [t for t in tasks if data.tasks[t][1] == hold_target]
        learnt = [t for t in tasks if data.tasks[t][1] != hold_target]
        if not held or not learnt:
            raise SystemExit("tune_model.py: --hold-target: expected one of several targets in the files")
    else:
        held = learnt = tasks
    score = np.zeros(len(data.speed))
    spread = np.zeros(len(data.speed))
    for fold in range(folds):
        test = [t for t in held if data.fold_of(t, folds) == fold]
        if not test:
            continue
        boosters = train(data, [t for t in learnt if data.fold_of(t, folds) != fold], share)
        rows = data.rows_of(test)
        score[rows], spread[rows] = predict(data, rows, boosters, share)
    deviation = residual_deviation(data, held, score)
    return held, score, spread, deviation


def report_test(data, path):
    """Trains on all of the data, and evaluates on the schedules of other models."""
    test = Data([path])
    tasks = list(range(len(test.tasks)))
    boosters = train(data, list(range(len(data.tasks))), SHARE)
    score, _ = predict(test, test.rows_of(tasks), boosters, SHARE)
    print("%d schedules of %d tasks in %s" % (len(test.speed), len(tasks), path))
    print("%-44s %6s %6s %6s" % ("", "top-1", "top-5", "pairs"))
    print_figures("random order", random_figures(test, tasks))
    print_figures("the default schedule first", figures(test, tasks, np.where(test.is_default, 1.0, 0.0)))
    print_figures("analytic model", figures(test, tasks, test.analytic))
    print_figures("trees and analytic model", figures(test, tasks, score))


def report(data, hold_target):
    tasks = [t for t in range(len(data.tasks)) if not hold_target or data.tasks[t][1] == hold_target]
    print("%d schedules of %d tasks%s" % (sum(data.tasks[t][4] - data.tasks[t][3] for t in tasks), len(tasks),
                                          "; target %s is not trained on" % hold_target if hold_target else ""))
    print("%-44s %6s %6s %6s" % ("", "top-1", "top-5", "pairs"))
    print_figures("random order", random_figures(data, tasks))
    default = np.where(data.is_default, 1.0, 0.0)
    print_figures("the default schedule first", figures(data, tasks, default))
    print_figures("analytic model", figures(data, tasks, data.analytic))
    held, score, spread, deviation = evaluate(data, hold_target, SHARE)
    print_figures("trees and analytic model", figures(data, held, score))
    print("deviation of scores from measured times: %.2f; spread of ensembles: %.2f"
          % (deviation, spread[data.rows_of(held)].mean()))


def nodes_of(tree):
    """Returns the nodes of a tree of XGBoost in the order of the file: a node, its left part, its right part."""
    left, right = tree["left_children"], tree["right_children"]
    nodes = []

    def add(i):
        at = len(nodes)
        if left[i] == -1:
            nodes.append((0xffff, 0, tree["split_conditions"][i]))
            return
        nodes.append(None)
        add(left[i])
        nodes[at] = (tree["split_indices"][i], len(nodes) - at, tree["split_conditions"][i])
        add(right[i])

    add(0)
    return nodes


def table_of(boosters, share, deviation):
    out = [b"EMTREES1", struct.pack("<IIffI", feature_version(), len(feature_names()), share, deviation, len(boosters))]
    for booster in boosters:
        model = json.loads(booster.save_raw("json"))
        trees = [nodes_of(t) for t in model["learner"]["gradient_booster"]["model"]["trees"]]
        roots, nodes = [], []
        for tree in trees:
            roots.append(len(nodes))
            nodes += tree
        out.append(struct.pack("<II", len(roots), len(nodes)))
        out.append(struct.pack("<%dI" % len(roots), *roots))
        out += [struct.pack("<HHf", *node) for node in nodes]
    return b"".join(out)


def write_table(data, path):
    _, _, _, deviation = evaluate(data, None, SHARE)
    boosters = train(data, list(range(len(data.tasks))), SHARE)
    table = table_of(boosters, SHARE, deviation)
    with open(path, "wb") as f:
        f.write(table)
    print("%s: %d bytes, %d trees, from %d schedules of %d tasks; deviation %.2f"
          % (path, len(table), ENSEMBLES * TREES, len(data.speed), len(data.tasks), deviation))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("work", choices=["evaluate", "train"])
    parser.add_argument("times", nargs="+")
    parser.add_argument("-o", "--output", default="tune/model/trees.bin")
    parser.add_argument("--hold-target", default="", help="evaluates on this target, which is not trained on")
    parser.add_argument("--test", default="", help="evaluates on the tasks of this file, which are not trained on")
    options = parser.parse_args()
    data = Data(options.times)
    if not data.tasks:
        raise SystemExit("tune_model.py: expected tasks of 6 schedules or more, found none")
    if options.work == "evaluate" and options.test:
        report_test(data, options.test)
    elif options.work == "evaluate":
        report(data, options.hold_target)
    else:
        write_table(data, options.output)


if __name__ == "__main__":
    sys.exit(main())
