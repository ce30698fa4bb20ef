"""The table of estimators: for each class of scikit-learn and XGBoost the function that converts it."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

from ..errors import InvalidArgument, Unimplemented
from . import bayes, compose, encoders, linear, neighbors, neural, preprocessing, svm, trees, xgboost
from .columns import Columns, make_inputs
from .common import Results, refuse
from .graph import Graph

# Estimators whose input is a matrix of numbers, by class name.
_OF_MATRICES: dict[str, Callable[[Any, Any], Results]] = {
    **linear.TABLE,
    **svm.TABLE,
    **trees.TABLE,
    **neighbors.TABLE,
    **neural.TABLE,
    **bayes.TABLE,
    **preprocessing.TABLE,
    **xgboost.TABLE,
}
# Estimators whose input is columns, which may be texts, by class name.
_OF_COLUMNS: dict[str, Callable[[Any, Columns], Results]] = {**compose.TABLE, **encoders.TABLE}
_LIBRARIES = ("sklearn", "xgboost")


def supported() -> tuple[str, ...]:
    """Returns the names of the classes that can be compiled."""
    return tuple(sorted([*_OF_MATRICES, *_OF_COLUMNS]))


def is_estimator(model: Any) -> bool:
    """True if the object is of a class of scikit-learn or XGBoost. No library is imported."""
    return type(model).__module__.split(".")[0] in _LIBRARIES and not isinstance(model, type)


def convert(estimator: Any, x: Columns) -> Results:
    """Returns the results of an estimator for these columns."""
    name = type(estimator).__name__
    of_columns, of_matrix = _OF_COLUMNS.get(name), _OF_MATRICES.get(name)
    if not is_estimator(estimator) or (of_columns is None and of_matrix is None):
        raise Unimplemented(
            f"{name}: this estimator is not supported; the {len(supported())} supported ones are listed by "
            "ember.estimators.supported()"
        )
    if of_columns is not None:
        return of_columns(estimator, x)
    assert of_matrix is not None
    return of_matrix(estimator, x.matrix(estimator))


def to_onnx(estimator: Any, dtype: Any = "float32") -> bytes:
    """Returns a fitted estimator as an ONNX model, whose results have the names predict, predict_proba, transform."""
    number = np.dtype(dtype)
    name = type(estimator).__name__
    if number not in (np.float32, np.float64):
        raise InvalidArgument(f"{name}: dtype: expected float32 or float64, found {number}")
    if name in xgboost.TABLE:
        count = xgboost.feature_count(estimator)
        graph = Graph()
        columns = Columns(graph.input("x", number, ("rows", count)), count, number)
    else:
        if name in _OF_MATRICES or name in _OF_COLUMNS:
            if callable(getattr(estimator, "kernel", None)):
                refuse(estimator, "kernel", "linear, poly, rbf or sigmoid", estimator.kernel)
            if not hasattr(estimator, "n_features_in_"):
                raise InvalidArgument(f"{name}: expected a fitted estimator, found one without fit; call its fit first")
            graph = Graph()
            columns = make_inputs(graph, estimator, number)
        else:
            graph, columns = Graph(), Columns([], 0, number)
    for output, value in convert(estimator, columns).named():
        graph.output(output, value)
    return graph.to_bytes(name)
