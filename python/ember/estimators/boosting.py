"""The models of XGBoost and LightGBM as they are in files, independent of their libraries."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..errors import DataLoss
from .ensembles import Tree, sum_of_trees
from .graph import Graph, Value

_MAX_COUNT = 1 << 20  # Largest number of features, and of groups, in a model file.


@dataclass
class BoostedModel:
    """A sum of trees or of linear terms for each group, and the function that makes results of it."""

    features: int
    groups: int
    trees: list[Tree] = field(default_factory=list)
    linear: np.ndarray | None = None  # [features, groups]
    start: Any = (0.0,)  # The number with which the sum of each group begins: one for all groups, or one for each.
    # The function that makes results of the sums: identity, sigmoid, exp, softmax, class (the index
    # of the largest), sign, signed_square or log1p_exp.
    transform: str = "identity"
    scale: float = 1.0  # Factor by which the sums are multiplied before the transform.
    rounds_to_f32: bool = True  # True if features are rounded to f32 before they are compared, as XGBoost does.

    def check(self, name: str) -> None:
        """Raises DataLoss if the model of a file is not one that can be converted."""
        for what, found in (("features", self.features), ("groups", self.groups)):
            if not 0 < found <= _MAX_COUNT:
                raise DataLoss(f"{name}: expected 1 to {_MAX_COUNT} {what}, found {found}")
        for n, tree in enumerate(self.trees):
            try:
                tree.check(self.features)
                if not 0 <= tree.target < self.groups:
                    raise ValueError(f"expected a group below {self.groups}, found {tree.target}")
            except ValueError as error:
                raise DataLoss(f"{name}: tree {n}: {error}") from error

    def margin(self, x: Value) -> Value:
        """Returns the sums [N, groups]."""
        if self.rounds_to_f32:
            x = x.cast(np.float32).cast(x.dtype)
        start = np.asarray(self.start, np.float64).reshape(1, -1)
        if self.linear is not None:
            return x @ self.linear + start
        if not self.trees:
            return x.take([0] * self.groups, 1) * 0 + start
        return sum_of_trees(self.trees, x, self.groups) + start

    def results(self, margin: Value) -> Value:
        """Returns the results of the model's own predict: [N], or [N, groups]."""
        if self.scale != 1:
            margin = margin * self.scale
        found = transformed(self.transform, margin)
        is_flat = self.groups == 1 or self.transform == "class"
        return found.reshape([-1]) if is_flat else found


def transformed(name: str, margin: Value) -> Value:
    """Applies a transform of BoostedModel."""
    if name == "identity":
        return margin
    if name in ("sigmoid", "exp"):
        return margin.apply("Sigmoid" if name == "sigmoid" else "Exp")
    if name == "softmax":
        return margin.softmax()
    if name == "class":
        return margin.argmax().cast(margin.dtype)
    if name == "sign":
        return margin.greater(0.0).cast(margin.dtype)
    if name == "signed_square":
        return margin * margin.apply("Abs")
    if name == "log1p_exp":
        return margin.apply("Softplus")
    raise AssertionError(name)


def to_onnx(model: BoostedModel, name: str, dtype: np.dtype) -> bytes:
    """Returns the model of a file as an ONNX model with the result predict."""
    graph = Graph()
    x = graph.input("x", dtype, ("rows", model.features))
    graph.output("predict", model.results(model.margin(x)))
    return graph.to_bytes(name)
