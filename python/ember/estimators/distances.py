"""Distances between rows and constant points."""

from __future__ import annotations

from typing import Any

import numpy as np

from .common import refuse
from .graph import Value


def _differences(x: Value, points: np.ndarray) -> Value:
    """Returns the differences [N, M, F]. They are not stored: the reduction that reads them computes them."""
    return x.unsqueeze(1) - points[np.newaxis]


def squared_distances(x: Value, points: np.ndarray) -> Value:
    """Returns the squared Euclidean distances [N, M], from differences, so that equal points have distance 0."""
    return _differences(x, points).reduce("SumSquare", 2)


def distances(estimator: Any, x: Value, points: np.ndarray, metric: str, p: float) -> tuple[Value, Value]:
    """Returns values that are ordered as the distances [N, M] are, and the distances."""
    if metric == "minkowski":
        metric = "manhattan" if p == 1 else "euclidean" if p == 2 else metric
    if metric == "euclidean":
        squares = squared_distances(x, points)
        return squares, squares.apply("Sqrt")
    if metric == "sqeuclidean":
        squares = squared_distances(x, points)
        return squares, squares
    if metric in ("manhattan", "cityblock", "l1"):
        sums = _differences(x, points).reduce("L1", 2)
        return sums, sums
    if metric == "chebyshev":
        largest = _differences(x, points).apply("Abs").reduce("Max", 2)
        return largest, largest
    if metric == "minkowski" and np.isfinite(p):
        sums = _differences(x, points).apply("Abs").power(float(p)).reduce("Sum", 2)
        return sums, sums.power(1 / float(p))
    refuse(estimator, "metric", "euclidean, manhattan, chebyshev, minkowski or sqeuclidean", metric)
