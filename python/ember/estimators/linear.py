"""Linear models: regression, generalised linear models, classifiers."""

from __future__ import annotations

from typing import Any

import numpy as np

from .common import Results, check_classes, classify, dense, normalized, refuse, two_columns, two_sigmoids
from .graph import Value


def _scores(estimator: Any, x: Value) -> Value:
    """Returns the scores [N, targets]."""
    coefficients = np.atleast_2d(dense(estimator.coef_))
    return x @ coefficients.T + np.atleast_1d(dense(estimator.intercept_))


def regressor(estimator: Any, x: Value) -> Results:
    scores = _scores(estimator, x)
    return Results(scores.reshape([-1]) if np.ndim(estimator.coef_) == 1 else scores)


def generalized(estimator: Any, x: Value) -> Results:
    """Converts Poisson, gamma and Tweedie regression."""
    scores = _scores(estimator, x).reshape([-1])
    link = getattr(estimator, "link", "log")
    if link == "auto":
        link = "identity" if estimator.power <= 0 else "log"
    return Results(scores.apply("Exp") if link == "log" else scores)


def classifier(estimator: Any, x: Value) -> Results:
    """Converts a classifier that has no probabilities."""
    classes = check_classes(estimator)
    if np.atleast_2d(dense(estimator.coef_)).shape[0] not in (1, len(classes)):
        refuse(estimator, "classes_", "one label for each row", "several labels for each row")
    return classify(_scores(estimator, x), classes, None)


def _one_against_rest(scores: Value, classes: np.ndarray) -> Value:
    return two_sigmoids(scores) if len(classes) == 2 else normalized(scores.apply("Sigmoid"))


def logistic_regression(estimator: Any, x: Value) -> Results:
    classes, scores = check_classes(estimator), _scores(estimator, x)
    way = getattr(estimator, "multi_class", "auto")
    if way == "ovr" or (way != "multinomial" and (len(classes) == 2 or estimator.solver == "liblinear")):
        return classify(scores, classes, _one_against_rest(scores, classes))
    # A multinomial model of two classes has one score s, which means scores (-s, s). Their softmax
    # is the sigmoid of 2 s.
    probabilities = two_sigmoids(scores * 2) if len(classes) == 2 else scores.softmax()
    return classify(scores, classes, probabilities)


def discriminant_analysis(estimator: Any, x: Value) -> Results:
    classes, scores = check_classes(estimator), _scores(estimator, x)
    probabilities = two_sigmoids(scores) if len(classes) == 2 else scores.softmax()
    return classify(scores, classes, probabilities)


def gradient_descent(estimator: Any, x: Value) -> Results:
    """Converts SGDClassifier, whose loss decides if there are probabilities."""
    classes, scores = check_classes(estimator), _scores(estimator, x)
    if estimator.loss in ("log_loss", "log"):
        return classify(scores, classes, _one_against_rest(scores, classes))
    if estimator.loss != "modified_huber":
        return classify(scores, classes, None)
    clipped = (scores.maximum(-1.0).minimum(1.0) + 1) / 2
    if len(classes) == 2:
        return classify(scores, classes, two_columns(clipped))
    # If the clipped scores of all classes are 0, scikit-learn gives all classes the same
    # probability.
    total = clipped.reduce("Sum", 1, keep=True)
    equal = total.equal(0.0)
    return classify(scores, classes, equal.where(clipped * 0 + 1, clipped) / equal.where(float(len(classes)), total))


_REGRESSORS = """
    LinearRegression Ridge RidgeCV Lasso LassoCV LassoLars LassoLarsCV LassoLarsIC ElasticNet ElasticNetCV Lars LarsCV
    OrthogonalMatchingPursuit OrthogonalMatchingPursuitCV BayesianRidge ARDRegression HuberRegressor TheilSenRegressor
    SGDRegressor PassiveAggressiveRegressor QuantileRegressor LinearSVR MultiTaskLasso MultiTaskLassoCV
    MultiTaskElasticNet MultiTaskElasticNetCV
"""

TABLE = {
    **{name: regressor for name in _REGRESSORS.split()},
    **{name: generalized for name in ("PoissonRegressor", "GammaRegressor", "TweedieRegressor")},
    **{
        name: classifier
        for name in ("RidgeClassifier", "RidgeClassifierCV", "Perceptron", "PassiveAggressiveClassifier", "LinearSVC")
    },
    "LogisticRegression": logistic_regression,
    "LogisticRegressionCV": logistic_regression,
    "LinearDiscriminantAnalysis": discriminant_analysis,
    "SGDClassifier": gradient_descent,
}
