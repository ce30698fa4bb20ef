"""Nearest neighbours and k-means."""

from __future__ import annotations

from typing import Any

import numpy as np

from .common import Results, check_classes, dense, labels, normalized, require
from .distances import distances, squared_distances
from .graph import INT, Value


def _nearest(estimator: Any, x: Value) -> tuple[Value, Value]:
    """Returns the indices of the nearest training rows and their weights, [N, k] both."""
    require(estimator, "weights", ("uniform", "distance"))
    # scikit-learn has the training rows in a private attribute only.
    points = dense(estimator._fit_X)
    p = (estimator.effective_metric_params_ or {}).get("p", estimator.p)
    ranks, lengths = distances(estimator, x, points, estimator.effective_metric_, p)
    count = x.graph.constant([estimator.n_neighbors], INT)
    _, indices = x.graph.nodes("TopK", [ranks, count], [x.dtype, INT], axis=1, largest=0, sorted=1)
    near = x.graph.node("GatherElements", [lengths, indices], axis=1)
    if estimator.weights == "uniform":
        return indices, near * 0 + 1
    # Weights are 1 / distance. If a row has neighbours at distance 0, such as itself in the
    # training data, only those count.
    zero = near.equal(0.0).cast(x.dtype)
    has_zero = zero.reduce("Max", 1, keep=True).greater(0.0)
    return indices, has_zero.where(zero, 1 / near)


def classifier(estimator: Any, x: Value) -> Results:
    classes = check_classes(estimator)
    indices, weights = _nearest(estimator, x)
    votes = np.eye(len(classes))[np.asarray(estimator._y).ravel()]
    chosen = x.graph.constant(votes, x.dtype).take(indices, 0)
    sums = (chosen * weights.unsqueeze(2)).reduce("Sum", 1)
    return Results(labels(sums.argmax(), classes), normalized(sums))


def regressor(estimator: Any, x: Value) -> Results:
    indices, weights = _nearest(estimator, x)
    targets = np.asarray(estimator._y, np.float64)
    table = targets.reshape(len(targets), -1)
    chosen = x.graph.constant(table, x.dtype).take(indices, 0)
    total = weights.reduce("Sum", 1, keep=True)
    mean = (chosen * weights.unsqueeze(2)).reduce("Sum", 1) / total
    return Results(mean.reshape([-1]) if targets.ndim == 1 else mean)


def k_means(estimator: Any, x: Value) -> Results:
    squares = squared_distances(x, dense(estimator.cluster_centers_))
    return Results(predict=squares.argmin().cast(np.int32), transform=squares.apply("Sqrt"))


TABLE = {
    "KNeighborsClassifier": classifier,
    "KNeighborsRegressor": regressor,
    "KMeans": k_means,
    "MiniBatchKMeans": k_means,
}
