"""Shared by the families of estimators: results, messages and class labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NoReturn, Sequence

import numpy as np

from ..errors import Unimplemented
from .graph import STRING, Value, concat


@dataclass(frozen=True)
class Results:
    """The results of an estimator by the names of its methods: predict, predict_proba, transform."""

    predict: Value | None = None
    predict_proba: Value | None = None
    transform: Value | None = None

    def named(self) -> list[tuple[str, Value]]:
        pairs = (("predict", self.predict), ("predict_proba", self.predict_proba), ("transform", self.transform))
        return [(name, value) for name, value in pairs if value is not None]


def refuse(estimator: Any, parameter: str, expected: str, found: Any) -> NoReturn:
    """Raises the exception for a parameter that cannot be converted."""
    text = found if isinstance(found, str) and " " in found else repr(found)
    raise Unimplemented(f"{type(estimator).__name__}: parameter {parameter}: expected {expected}, found {text}")


def require(estimator: Any, parameter: str, supported: Sequence[Any]) -> Any:
    """Returns the parameter's value, which must be one of the supported ones."""
    value = getattr(estimator, parameter)
    if not any(type(value) is type(s) and value == s for s in supported):
        refuse(estimator, parameter, " or ".join(repr(s) for s in supported), value)
    return value


def dense(matrix: Any) -> np.ndarray:
    """Returns a matrix that may be sparse as an array of f64."""
    return np.asarray(matrix.toarray() if hasattr(matrix, "toarray") else matrix, np.float64)


def labels(value: Value, classes: Any) -> Value:
    """Returns the labels of classes for their indices."""
    array = np.asarray(classes)
    if array.dtype.kind in "OUS":
        array = np.array([str(c) for c in array.tolist()], object)
    elif array.dtype.kind in "iu":
        array = array.astype(np.int64)
    return value.graph.constant(array).take(value, 0)


def check_classes(estimator: Any) -> np.ndarray:
    """Returns the labels of a classifier with one target."""
    classes = estimator.classes_
    if isinstance(classes, list):
        refuse(estimator, "classes_", "one target", f"{len(classes)} targets")
    array = np.asarray(classes)
    if array.dtype.kind == "O" and not all(isinstance(c, str) for c in array.tolist()):
        refuse(estimator, "classes_", "labels that are numbers or texts", "objects of other types")
    return array


def two_columns(probability: Value) -> Value:
    """Returns [1 - p, p] for p of shape [N, 1]."""
    return concat([1 - probability, probability])


def two_sigmoids(score: Value) -> Value:
    """Returns the probabilities of two classes for scores of shape [N, 1], also exact where one of them is small."""
    return concat([-score, score]).apply("Sigmoid")


def classify(scores: Value, classes: Any, probabilities: Value | None, threshold: float = 0.0) -> Results:
    """Chooses the class of the largest score. One column of scores decides between two classes."""
    if len(classes) == 2:
        best = scores.reshape([-1]).greater(threshold).cast(np.int64)
    else:
        best = scores.argmax()
    return Results(labels(best, classes), probabilities)


def normalized(values: Value) -> Value:
    """Divides each row by its sum."""
    return values / values.reduce("Sum", 1, keep=True)


def is_string(value: Value) -> bool:
    return value.dtype == STRING
