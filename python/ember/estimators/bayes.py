"""Naive Bayes. Sums of logarithms are large and their differences matter, so they are computed in f64."""

from __future__ import annotations

from typing import Any

import numpy as np

from .common import Results, check_classes, labels
from .graph import Value


def _classify(estimator: Any, likelihood: Value, dtype: np.dtype) -> Results:
    return Results(labels(likelihood.argmax(), check_classes(estimator)), likelihood.softmax().cast(dtype))


def gaussian(estimator: Any, x: Value) -> Results:
    wide = x.cast(np.float64)
    variance = estimator.var_
    constant = np.log(estimator.class_prior_) - 0.5 * np.log(2 * np.pi * variance).sum(axis=1)
    scaled = (wide.unsqueeze(1) - estimator.theta_[np.newaxis]) * (1 / np.sqrt(variance))[np.newaxis]
    return _classify(estimator, constant + scaled.reduce("SumSquare", 2) * -0.5, x.dtype)


def multinomial(estimator: Any, x: Value) -> Results:
    likelihood = x.cast(np.float64) @ estimator.feature_log_prob_.T + estimator.class_log_prior_
    return _classify(estimator, likelihood, x.dtype)


def complement(estimator: Any, x: Value) -> Results:
    likelihood = x.cast(np.float64) @ estimator.feature_log_prob_.T
    if len(estimator.classes_) == 1:
        likelihood = likelihood + estimator.class_log_prior_
    return _classify(estimator, likelihood, x.dtype)


def bernoulli(estimator: Any, x: Value) -> Results:
    wide = x.cast(np.float64)
    if estimator.binarize is not None:
        wide = wide.greater(float(estimator.binarize)).cast(np.float64)
    negative = np.log(1 - np.exp(estimator.feature_log_prob_))
    likelihood = wide @ (estimator.feature_log_prob_ - negative).T + (estimator.class_log_prior_ + negative.sum(axis=1))
    return _classify(estimator, likelihood, x.dtype)


TABLE = {
    "GaussianNB": gaussian,
    "MultinomialNB": multinomial,
    "ComplementNB": complement,
    "BernoulliNB": bernoulli,
}
