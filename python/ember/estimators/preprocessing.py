"""Scalers, selections of features and projections. Encoders of categories are in encoders.py."""

from __future__ import annotations

from typing import Any

import numpy as np

from .common import Results, dense, refuse, require
from .graph import Value, concat


def _scaled(x: Value, center: Any, scale: Any) -> Results:
    if center is not None:
        x = x - center
    return Results(transform=x if scale is None else x / scale)


def standard_scaler(estimator: Any, x: Value) -> Results:
    center = estimator.mean_ if estimator.with_mean else None
    return _scaled(x, center, estimator.scale_ if estimator.with_std else None)


def robust_scaler(estimator: Any, x: Value) -> Results:
    center = estimator.center_ if estimator.with_centering else None
    return _scaled(x, center, estimator.scale_ if estimator.with_scaling else None)


def max_abs_scaler(estimator: Any, x: Value) -> Results:
    return _scaled(x, None, estimator.scale_)


def min_max_scaler(estimator: Any, x: Value) -> Results:
    x = x * estimator.scale_ + estimator.min_
    if estimator.clip:
        low, high = estimator.feature_range
        x = x.maximum(float(low)).minimum(float(high))
    return Results(transform=x)


def normalizer(estimator: Any, x: Value) -> Results:
    norm = require(estimator, "norm", ("l1", "l2", "max"))
    if norm == "max":
        lengths = x.apply("Abs").reduce("Max", 1, keep=True)
    else:
        lengths = x.reduce(norm.upper(), 1, keep=True)
    return Results(transform=x / lengths.equal(0.0).where(1.0, lengths))


def binarizer(estimator: Any, x: Value) -> Results:
    return Results(transform=x.greater(float(estimator.threshold)).cast(x.dtype))


def polynomial_features(estimator: Any, x: Value) -> Results:
    columns = []
    for powers in estimator.powers_:
        factors = np.repeat(np.arange(len(powers)), powers)
        if len(factors) == 0:
            columns.append(x.take([0], 1) * 0 + 1)
            continue
        product = x.take(factors[:1], 1)
        for n in range(1, len(factors)):
            product = product * x.take(factors[n : n + 1], 1)
        columns.append(product)
    return Results(transform=concat(columns))


def selection(estimator: Any, x: Value) -> Results:
    return Results(transform=x.take(estimator.get_support(indices=True), 1))


def identity(estimator: Any, x: Value) -> Results:
    """Converts a FunctionTransformer without a function."""
    if estimator.func is not None:
        refuse(estimator, "func", "None", estimator.func)
    return Results(transform=x)


def principal_components(estimator: Any, x: Value) -> Results:
    components = dense(estimator.components_)
    projected = (x - estimator.mean_) @ components.T
    if estimator.whiten:
        projected = projected / np.sqrt(estimator.explained_variance_)
    return Results(transform=projected)


def truncated_svd(estimator: Any, x: Value) -> Results:
    return Results(transform=x @ dense(estimator.components_).T)


TABLE = {
    "StandardScaler": standard_scaler,
    "RobustScaler": robust_scaler,
    "MaxAbsScaler": max_abs_scaler,
    "MinMaxScaler": min_max_scaler,
    "Normalizer": normalizer,
    "Binarizer": binarizer,
    "PolynomialFeatures": polynomial_features,
    "FunctionTransformer": identity,
    "PCA": principal_components,
    "IncrementalPCA": principal_components,
    "TruncatedSVD": truncated_svd,
    **{
        name: selection
        for name in (
            "VarianceThreshold",
            "SelectKBest",
            "SelectPercentile",
            "SelectFpr",
            "SelectFdr",
            "SelectFwe",
            "GenericUnivariateSelect",
            "SelectFromModel",
            "RFE",
            "RFECV",
        )
    },
}
