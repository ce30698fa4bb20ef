"""Trees of any library as nodes of a graph: thresholds, leaves, and the sums of leaves."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Sequence

import numpy as np

from .graph import ML, Value

# Comparisons of a branch, by their numbers in ONNX's TreeEnsemble.
LESS_OR_EQUAL, LESS, MEMBER = 0, 1, 6
# All integers below this one are exact in f32.
_EXACT = 1 << 24


def round_down(thresholds: np.ndarray) -> np.ndarray:
    """Returns the largest f32 that is not above each f64 threshold.

    `x <= threshold` then has the same result in f32 as in f64 for every x of f32.
    """
    with np.errstate(over="ignore"):
        nearest = thresholds.astype(np.float32)
    return np.where(nearest.astype(np.float64) > thresholds, np.nextafter(nearest, np.float32(-np.inf)), nearest)


@dataclass
class Tree:
    """One tree, node by node. A leaf has the feature -1, and its row of `values` has a number for each target."""

    feature: np.ndarray
    threshold: np.ndarray
    left: np.ndarray  # Index of the next node for rows for which the branch's test is true.
    right: np.ndarray
    missing_left: np.ndarray  # True if a row continues to the left where its feature is NaN.
    values: np.ndarray  # [nodes, targets]
    mode: int = LESS_OR_EQUAL
    # For each branch that tests if a category is a member of a set: the categories of the set, by
    # the branch's index.
    members: dict[int, list[int]] = field(default_factory=dict)
    target: int = 0  # The result to which the tree adds if `values` has one column.

    def check(self, features: int) -> None:
        """Raises ValueError if the nodes are not those of a tree over so many features."""
        count = len(self.feature)
        for what in ("threshold", "left", "right", "missing_left", "values"):
            if count == 0 or len(getattr(self, what)) != count:
                raise ValueError(f"expected one or more nodes, and as many values of {what}")
        if np.any(self.feature >= features):
            raise ValueError(f"expected features below {features}, found {self.feature.max()}")
        pending, seen = [0], np.zeros(count, bool)
        while pending:
            node = pending.pop()
            if not 0 <= node < count:
                raise ValueError(f"expected nodes below {count}, found {node}")
            if seen[node]:
                raise ValueError(f"expected a node with one parent, found node {node} with two")
            seen[node] = True
            if self.feature[node] >= 0:
                pending += [int(self.left[node]), int(self.right[node])]


class _Writer:
    """Collects the attributes of a TreeEnsemble."""

    def __init__(self) -> None:
        self.features: list[int] = []
        self.splits: list[float] = []
        self.modes: list[int] = []
        self.children: tuple[list[int], list[int]] = ([], [])
        self.is_leaf: tuple[list[int], list[int]] = ([], [])
        self.missing: list[int] = []
        self.members: list[float] = []
        self.roots: list[int] = []
        self.weights: list[float] = []
        self.targets: list[int] = []

    def add_leaf(self, weight: float, target: int) -> int:
        self.weights.append(weight)
        self.targets.append(target)
        return len(self.weights) - 1

    def add_tree(self, tree: Tree, weights: np.ndarray, target: int) -> None:
        """Adds the nodes that can be reached, parents before their children."""
        first = len(self.features)
        self.roots.append(first)
        if tree.feature[0] < 0:
            # A tree that is a single leaf becomes a branch whose two children are this leaf,
            # because ONNX's operator needs a branch.
            self._add_branch(0, 0.0, LESS_OR_EQUAL, False)
            leaf = self.add_leaf(weights[0], target)
            for side in (0, 1):
                self.children[side].append(leaf)
                self.is_leaf[side].append(1)
            return
        order, number = [0], {0: first}
        for node in order:
            for child in (int(tree.left[node]), int(tree.right[node])):
                if tree.feature[child] >= 0:
                    number[child] = first + len(order)
                    order.append(child)
        for node in order:
            members = tree.members.get(node)
            mode = tree.mode if members is None else MEMBER
            self._add_branch(tree.feature[node], tree.threshold[node], mode, tree.missing_left[node])
            if members is not None:
                self.members += [*members, np.nan]
            for side, child in enumerate((int(tree.left[node]), int(tree.right[node]))):
                leaf = tree.feature[child] < 0
                self.is_leaf[side].append(int(leaf))
                self.children[side].append(self.add_leaf(weights[child], target) if leaf else number[child])

    def _add_branch(self, feature: int, split: float, mode: int, missing: bool) -> None:
        self.features.append(int(feature))
        self.splits.append(float(split))
        self.modes.append(mode)
        self.missing.append(int(missing))

    def node(self, x: Value, targets: int) -> Value:
        """Returns the sums of the leaves, [N, targets]."""
        dtype = x.dtype
        optional = {"membership_values": np.array(self.members, dtype)} if self.members else {}
        return x.graph.node(
            "TreeEnsemble",
            [x],
            domain=ML,
            aggregate_function=1,
            n_targets=targets,
            nodes_featureids=self.features,
            nodes_splits=np.array(self.splits, dtype),
            nodes_modes=np.array(self.modes, np.uint8),
            nodes_truenodeids=self.children[0],
            nodes_falsenodeids=self.children[1],
            nodes_trueleafs=self.is_leaf[0],
            nodes_falseleafs=self.is_leaf[1],
            nodes_missing_value_tracks_true=self.missing,
            tree_roots=self.roots,
            leaf_weights=np.array(self.weights, dtype),
            leaf_targetids=self.targets,
            **optional,
        )


def _prepared(trees: Sequence[Tree], x: Value) -> list[Tree]:
    """Returns the trees with thresholds in the type of x."""
    if x.dtype == np.float64:
        return list(trees)
    return [replace(t, threshold=round_down(np.asarray(t.threshold, np.float64))) for t in trees]


def sum_of_trees(trees: Sequence[Tree], x: Value, targets: int) -> Value:
    """Returns the sum of the values of the leaves that each row reaches, [N, targets].

    Trees with one column of values add to their target. Others have a column for each target; a row of them is looked
    up by the number of the leaf, in f64, so that equal sums of probabilities stay equal.
    """
    writer = _Writer()
    prepared = _prepared(trees, x)
    if targets == 1 or all(t.values.shape[1] == 1 for t in prepared):
        for tree in prepared:
            writer.add_tree(tree, tree.values[:, 0], tree.target)
        return writer.node(x, targets)
    table: list[np.ndarray] = []
    for n, tree in enumerate(prepared):
        # The operator adds one number per leaf, but these leaves have many values: the number is
        # the leaf's row in a table of them.
        numbers = np.full(len(tree.feature), -1.0)
        leaves = np.flatnonzero(tree.feature < 0)
        numbers[leaves] = len(table) + np.arange(len(leaves))
        table += list(tree.values[leaves])
        writer.add_tree(tree, numbers, n)
    assert len(table) < _EXACT
    rows = writer.node(x, len(prepared)).cast(np.int64)
    values = x.graph.constant(np.array(table), np.float64).take(rows, 0)
    return values.reduce("Sum", 1)
