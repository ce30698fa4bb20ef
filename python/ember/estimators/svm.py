"""Support vector machines: the formulas are those of libsvm."""

from __future__ import annotations

from typing import Any

import numpy as np

from .common import Results, check_classes, classify, dense, labels, refuse, require
from .distances import squared_distances
from .graph import INT, ML, Value

_KERNELS = ("linear", "poly", "rbf", "sigmoid")


def _kernel(estimator: Any, x: Value) -> Value:
    """Returns the kernel of each row with each support vector, [N, V]."""
    kind = require(estimator, "kernel", _KERNELS)
    vectors = dense(estimator.support_vectors_)
    # If gamma is "scale", the value depends on the training data, and only the private attribute
    # _gamma has it.
    gamma, offset = float(estimator._gamma), float(estimator.coef0)
    if kind == "rbf":
        return (squared_distances(x, vectors) * -gamma).apply("Exp")
    product = x @ vectors.T
    if kind == "linear":
        return product
    product = product * gamma + offset
    return product.power(float(estimator.degree)) if kind == "poly" else product.apply("Tanh")


def regressor(estimator: Any, x: Value) -> Results:
    scores = _kernel(estimator, x) @ dense(estimator.dual_coef_).T + dense(estimator.intercept_)
    return Results(scores.reshape([-1]))


def one_class(estimator: Any, x: Value) -> Results:
    inside = regressor(estimator, x).predict
    assert inside is not None
    return Results(inside.greater(0.0).where(inside.graph.constant(1, INT), -1))


def _pair_weights(estimator: Any) -> np.ndarray:
    """Returns the weight of each support vector in each pair of classes, [V, pairs]."""
    counts, dual = np.asarray(estimator.n_support_), dense(estimator.dual_coef_)
    starts, columns = np.concatenate(([0], np.cumsum(counts))), []
    for i in range(len(counts)):
        for j in range(i + 1, len(counts)):
            column = np.zeros(dual.shape[1])
            column[starts[i] : starts[i + 1]] = dual[j - 1, starts[i] : starts[i + 1]]
            column[starts[j] : starts[j + 1]] = dual[i, starts[j] : starts[j + 1]]
            columns.append(column)
    return np.stack(columns, axis=1)


def _votes(pairs: Value, count: int) -> Value:
    """Returns the number of pairs that each class wins, [N, classes]."""
    wins = pairs.greater(0.0).cast(np.float32)
    pair_of = {pair: n for n, pair in enumerate((i, j) for i in range(count) for j in range(i + 1, count))}
    weights, offset = np.zeros((len(pair_of), count)), np.zeros(count)
    for (i, j), n in pair_of.items():
        weights[n, i], weights[n, j] = 1, -1
        offset[j] += 1
    return wins @ weights + offset


def classifier(estimator: Any, x: Value) -> Results:
    classes = check_classes(estimator)
    require(estimator, "break_ties", (False,))
    kernel = _kernel(estimator, x)
    if len(classes) == 2:
        scores = kernel @ dense(estimator.dual_coef_).T + dense(estimator.intercept_)
        return classify(scores, classes, _coupled(estimator, x, -1) if estimator.probability else None)
    pairs = kernel @ _pair_weights(estimator) + dense(estimator.intercept_)
    best = labels(_votes(pairs, len(classes)).argmax(), classes)
    return Results(best, _coupled(estimator, x, 1) if estimator.probability else None)


def _coupled(estimator: Any, x: Value, sign: int) -> Value:
    """Returns the probabilities of the classes, which libsvm couples by iteration.

    sign: -1 for two classes, whose coefficients scikit-learn negates.
    """
    if x.dtype != np.float32:
        refuse(estimator, "probability", "False for dtype='float64'", True)
    _, scores = x.graph.nodes(
        "SVMClassifier",
        [x],
        [INT, np.float32],
        domain=ML,
        classlabels_ints=list(range(len(estimator.classes_))),
        coefficients=(sign * dense(estimator.dual_coef_)).ravel().tolist(),
        kernel_params=[float(estimator._gamma), float(estimator.coef0), float(estimator.degree)],
        kernel_type=estimator.kernel.upper(),
        prob_a=dense(estimator.probA_).tolist(),
        prob_b=dense(estimator.probB_).tolist(),
        rho=(sign * dense(estimator.intercept_)).tolist(),
        support_vectors=dense(estimator.support_vectors_).ravel().tolist(),
        vectors_per_class=[int(n) for n in estimator.n_support_],
    )
    return scores


TABLE = {
    "SVR": regressor,
    "NuSVR": regressor,
    "OneClassSVM": one_class,
    "SVC": classifier,
    "NuSVC": classifier,
}
