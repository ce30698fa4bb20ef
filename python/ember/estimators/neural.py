"""Multi-layer perceptrons."""

from __future__ import annotations

from typing import Any

from .common import Results, check_classes, classify, refuse, require, two_sigmoids
from .graph import Value

_ACTIVATIONS = {"identity": None, "logistic": "Sigmoid", "tanh": "Tanh", "relu": "Relu"}


def _scores(estimator: Any, x: Value) -> Value:
    """Returns the scores before the output's activation."""
    operator = _ACTIVATIONS[require(estimator, "activation", tuple(_ACTIVATIONS))]
    last = len(estimator.coefs_) - 1
    for n, (weights, bias) in enumerate(zip(estimator.coefs_, estimator.intercepts_)):
        x = x @ weights + bias
        if operator is not None and n != last:
            x = x.apply(operator)
    return x


def regressor(estimator: Any, x: Value) -> Results:
    require(estimator, "out_activation_", ("identity",))
    scores = _scores(estimator, x)
    return Results(scores.reshape([-1]) if estimator.n_outputs_ == 1 else scores)


def classifier(estimator: Any, x: Value) -> Results:
    classes, scores = check_classes(estimator), _scores(estimator, x)
    if estimator.out_activation_ == "softmax":
        return classify(scores, classes, scores.softmax())
    if estimator.n_outputs_ != 1:
        refuse(estimator, "classes_", "one label for each row", "several labels for each row")
    return classify(scores, classes, two_sigmoids(scores))


TABLE = {"MLPRegressor": regressor, "MLPClassifier": classifier}
