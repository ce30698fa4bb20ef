"""Decision trees, forests and gradient boosting of scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np

from .common import Results, check_classes, classify, labels, refuse, require, two_sigmoids
from .ensembles import Tree, sum_of_trees
from .graph import Value


def _tree(estimator: Any, values: np.ndarray, target: int = 0) -> Tree:
    """Returns the tree of a fitted decision tree, with these values [nodes, targets]."""
    found = estimator.tree_
    is_leaf = found.children_left < 0
    missing = np.zeros(len(is_leaf), bool)
    state = found.__getstate__()["nodes"]
    if "missing_go_to_left" in state.dtype.names:  # scikit-learn 1.3 and later split missing values
        missing = state["missing_go_to_left"].astype(bool)
    return Tree(
        feature=np.where(is_leaf, -1, found.feature),
        threshold=found.threshold,
        left=found.children_left,
        right=found.children_right,
        missing_left=missing,
        values=values,
        target=target,
    )


def _features(x: Value) -> Value:
    """Returns x as scikit-learn's trees compare it: rounded to f32."""
    return x.cast(np.float32).cast(x.dtype)


def _class_values(estimator: Any) -> np.ndarray:
    counts = estimator.tree_.value[:, 0, :]
    return counts / counts.sum(axis=1, keepdims=True)


def _most_probable(x: Value, probabilities: Value, classes: np.ndarray) -> Results:
    return Results(labels(probabilities.argmax(), classes), probabilities.cast(x.dtype))


def tree_classifier(estimator: Any, x: Value) -> Results:
    return _averaged_classes(estimator, [estimator], x)


def forest_classifier(estimator: Any, x: Value) -> Results:
    return _averaged_classes(estimator, estimator.estimators_, x)


def _averaged_classes(estimator: Any, members: Any, x: Value) -> Results:
    classes = check_classes(estimator)
    if len(classes) == 1:
        refuse(estimator, "classes_", "two or more classes", "one class")
    trees = [_tree(m, _class_values(m)) for m in members]
    sums = sum_of_trees(trees, _features(x), len(classes))
    return _most_probable(x, sums / len(trees), classes)


def tree_regressor(estimator: Any, x: Value) -> Results:
    return _averaged_values(estimator, [estimator], x)


def forest_regressor(estimator: Any, x: Value) -> Results:
    return _averaged_values(estimator, estimator.estimators_, x)


def _averaged_values(estimator: Any, members: Any, x: Value) -> Results:
    targets = estimator.n_outputs_
    trees = [_tree(m, m.tree_.value[:, :, 0] / len(members)) for m in members]
    sums = sum_of_trees(trees, _features(x), targets).cast(x.dtype)
    return Results(sums.reshape([-1]) if targets == 1 else sums)


def _boosted(estimator: Any, x: Value) -> Value:
    """Returns the raw predictions of gradient boosting, [N, K]."""
    if estimator.init_ != "zero" and type(estimator.init_).__name__ not in ("DummyClassifier", "DummyRegressor"):
        refuse(estimator, "init", "None or 'zero'", estimator.init_)
    # A private method returns the constants with which the sums begin; no public attribute has
    # them.
    start = estimator._raw_predict_init(np.zeros((1, estimator.n_features_in_), np.float32))
    trees = [
        _tree(member, member.tree_.value[:, :, 0] * estimator.learning_rate, target)
        for row in estimator.estimators_
        for target, member in enumerate(row)
    ]
    return sum_of_trees(trees, _features(x), estimator.estimators_.shape[1]) + np.asarray(start)


def boosting_regressor(estimator: Any, x: Value) -> Results:
    return Results(_boosted(estimator, x).reshape([-1]))


def boosting_classifier(estimator: Any, x: Value) -> Results:
    require(estimator, "loss", ("log_loss", "deviance", "exponential"))
    scale = 2.0 if estimator.loss == "exponential" else 1.0
    return _boosted_classes(_boosted(estimator, x) * scale, check_classes(estimator))


def _boosted_classes(raw: Value, classes: np.ndarray) -> Results:
    probabilities = two_sigmoids(raw) if len(classes) == 2 else raw.softmax()
    return classify(raw, classes, probabilities)


def _histogram(estimator: Any, x: Value) -> Value:
    """Returns the raw predictions of boosting over histograms, [N, K]."""
    if getattr(estimator, "is_categorical_", None) is not None:
        refuse(estimator, "categorical_features", "None", "categorical features")
    trees = []
    # scikit-learn has the trees of histogram gradient boosting in a private attribute only.
    for row in estimator._predictors:
        for target, predictor in enumerate(row):
            nodes = predictor.nodes
            trees.append(
                Tree(
                    feature=np.where(nodes["is_leaf"] != 0, -1, nodes["feature_idx"].astype(np.int64)),
                    threshold=nodes["num_threshold"],
                    left=nodes["left"],
                    right=nodes["right"],
                    missing_left=nodes["missing_go_to_left"].astype(bool),
                    values=nodes["value"][:, np.newaxis],
                    target=target,
                )
            )
    start = np.asarray(estimator._baseline_prediction).reshape(1, -1)
    return sum_of_trees(trees, x, start.shape[1]) + start


def histogram_regressor(estimator: Any, x: Value) -> Results:
    raw = _histogram(estimator, x).reshape([-1])
    return Results(raw.apply("Exp") if estimator.loss in ("poisson", "gamma") else raw)


def histogram_classifier(estimator: Any, x: Value) -> Results:
    return _boosted_classes(_histogram(estimator, x), check_classes(estimator))


TABLE = {
    "DecisionTreeClassifier": tree_classifier,
    "ExtraTreeClassifier": tree_classifier,
    "RandomForestClassifier": forest_classifier,
    "ExtraTreesClassifier": forest_classifier,
    "DecisionTreeRegressor": tree_regressor,
    "ExtraTreeRegressor": tree_regressor,
    "RandomForestRegressor": forest_regressor,
    "ExtraTreesRegressor": forest_regressor,
    "GradientBoostingClassifier": boosting_classifier,
    "GradientBoostingRegressor": boosting_regressor,
    "HistGradientBoostingClassifier": histogram_classifier,
    "HistGradientBoostingRegressor": histogram_regressor,
}
