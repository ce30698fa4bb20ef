"""XGBoost: boosters, their estimators, and model files (.json, .ubj)."""

from __future__ import annotations

import json
import math
from typing import Any, Callable

import numpy as np

from ..errors import DataLoss, InvalidArgument, Unimplemented
from . import ubjson
from .boosting import BoostedModel, transformed
from .common import Results, labels, refuse, two_columns, two_sigmoids
from .ensembles import LESS, Tree
from .graph import Value

_MAX_GROUPS = 1 << 20
# For each objective: the transform of the sums, and the function that makes the start of them from base_score.
_Objective = tuple[str, Callable[[float], float]]
_IDENTITY: _Objective = ("identity", float)


def _logit(p: float) -> float:
    if not 0 < p < 1:
        raise InvalidArgument(f"XGBoost model: base_score: expected a number between 0 and 1, found {p}")
    return -math.log(1 / p - 1)


_OBJECTIVES: dict[str, _Objective] = {
    "reg:squarederror": _IDENTITY,
    "reg:linear": _IDENTITY,
    "reg:squaredlogerror": _IDENTITY,
    "reg:pseudohubererror": _IDENTITY,
    "reg:absoluteerror": _IDENTITY,
    "reg:quantileerror": _IDENTITY,
    "rank:pairwise": _IDENTITY,
    "rank:ndcg": _IDENTITY,
    "rank:map": _IDENTITY,
    "reg:logistic": ("sigmoid", _logit),
    "binary:logistic": ("sigmoid", _logit),
    "binary:logitraw": _IDENTITY,
    "binary:hinge": ("sign", float),
    "count:poisson": ("exp", math.log),
    "reg:gamma": ("exp", math.log),
    "reg:tweedie": ("exp", math.log),
    "survival:cox": ("exp", math.log),
    "survival:aft": ("exp", math.log),
    "multi:softprob": ("softmax", float),
    "multi:softmax": ("class", float),
}


def read_model(data: bytes, name: str) -> BoostedModel:
    """Reads the bytes of a model file."""
    try:
        document = json.loads(data) if data.lstrip()[1:].lstrip().startswith(b'"') else ubjson.loads(data)
        model = _Reader(document, name, None).model()
        model.check(name)
        return model
    except (ArithmeticError, RecursionError, ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
        if isinstance(error, (InvalidArgument, Unimplemented, DataLoss)):
            raise
        raise DataLoss(
            f"{name}: expected an XGBoost model, found one that is truncated or corrupt: {error!r}"
        ) from error


class _Reader:
    """Reads a model from its JSON. `rounds`: only so many rounds of boosting count; None: all."""

    def __init__(self, document: Any, name: str, rounds: int | None):
        self.name, self.rounds = name, rounds
        self.learner = document["learner"]
        self.booster = self.learner["gradient_booster"]

    def _refuse(self, what: str, expected: str, found: Any) -> Unimplemented:
        return Unimplemented(f"{self.name}: {what}: expected {expected}, found {found!r}")

    def model(self) -> BoostedModel:
        parameters = self.learner["learner_model_param"]
        groups = max(1, int(parameters["num_class"]))
        if groups > _MAX_GROUPS:
            raise self._refuse("num_class", f"at most {_MAX_GROUPS}", groups)
        if int(parameters.get("num_target", "1")) > 1:
            raise self._refuse("num_target", "1", parameters["num_target"])
        objective = self.learner["objective"]["name"]
        if objective not in _OBJECTIVES:
            raise self._refuse("objective", ", ".join(_OBJECTIVES), objective)
        transform, start = _OBJECTIVES[objective]
        # XGBoost 3 writes base_score as a list of numbers, earlier versions as one number.
        scores = [float(s) for s in str(parameters["base_score"]).strip("[]").split(",")]
        model = BoostedModel(
            features=int(parameters["num_feature"]),
            groups=groups,
            start=np.broadcast_to([start(s) for s in scores], (groups,)),
            transform=transform,
        )
        kind = self.booster["name"]
        if kind == "gblinear":
            self._add_linear(model)
        elif kind == "gbtree":
            self._add_trees(model, self.booster["model"], None)
        elif kind == "dart":
            self._add_trees(model, self.booster["gbtree"]["model"], self.booster["weight_drop"])
        else:
            raise self._refuse("booster", "gbtree, dart or gblinear", kind)
        return model

    def _add_linear(self, model: BoostedModel) -> None:
        weights = np.array(self.booster["model"]["weights"], np.float64).reshape(-1, model.groups)
        # The last row of the weights of a linear booster is the bias.
        model.linear = weights[: model.features]
        model.start = np.asarray(model.start) + weights[model.features]

    def _add_trees(self, model: BoostedModel, found: Any, weights: Any) -> None:
        trees, targets = found["trees"], found["tree_info"]
        if self.rounds is not None:
            per_round = max(1, int(found["gbtree_model_param"].get("num_parallel_tree", "1"))) * model.groups
            trees = trees[: self.rounds * per_round]
        for n, tree in enumerate(trees):
            model.trees.append(self._tree(tree, int(targets[n]), 1.0 if weights is None else float(weights[n])))

    def _tree(self, tree: Any, target: int, weight: float) -> Tree:
        if int(tree["tree_param"].get("size_leaf_vector", "1")) > 1:
            raise self._refuse("multi_strategy", "one_output_per_tree", "vectors in leaves")
        if any(tree.get("split_type", ())):
            raise self._refuse("split_type", "splits by number", "splits by category")
        left = np.array(tree["left_children"], np.int64)
        conditions = np.array(tree["split_conditions"], np.float32)
        return Tree(
            feature=np.where(left < 0, -1, np.array(tree["split_indices"], np.int64)),
            threshold=conditions,
            left=left,
            right=np.array(tree["right_children"], np.int64),
            missing_left=np.array(tree["default_left"], bool),
            values=conditions[:, np.newaxis].astype(np.float64) * weight,
            mode=LESS,
            target=target,
        )


def _booster_of(estimator: Any) -> Any:
    if type(estimator).__name__ == "Booster":
        return estimator
    try:
        return estimator.get_booster()
    except Exception as error:  # XGBoost raises scikit-learn's NotFittedError, which is not imported here.
        raise InvalidArgument(
            f"{type(estimator).__name__}: expected a fitted estimator, found one without fit; call its fit first"
        ) from error


def feature_count(estimator: Any) -> int:
    return int(_booster_of(estimator).num_features())


def _read(estimator: Any) -> BoostedModel:
    booster = _booster_of(estimator)
    missing = getattr(estimator, "missing", np.nan)
    if missing is not None and not np.isnan(missing):
        refuse(estimator, "missing", "NaN", missing)
    document = json.loads(bytes(booster.save_raw("json")))
    # XGBoost's estimators predict with the rounds up to the best one of early stopping, its
    # boosters with all rounds.
    best = None if booster is estimator else document["learner"].get("attributes", {}).get("best_iteration")
    return _Reader(document, type(estimator).__name__, None if best is None else int(best) + 1).model()


def regressor(estimator: Any, x: Value) -> Results:
    model = _read(estimator)
    return Results(model.results(model.margin(x)))


def classifier(estimator: Any, x: Value) -> Results:
    model, classes = _read(estimator), np.arange(estimator.n_classes_)
    margin = model.margin(x)
    if model.groups > 1:
        return Results(labels(margin.argmax(), classes), margin.softmax())
    if model.transform not in ("sigmoid", "sign"):
        refuse(estimator, "objective", "binary:logistic, binary:hinge, multi:softprob or multi:softmax", "another one")
    best = margin.reshape([-1]).greater(0.0).cast(np.int64)
    if model.transform == "sigmoid":
        return Results(labels(best, classes), two_sigmoids(margin))
    return Results(labels(best, classes), two_columns(transformed(model.transform, margin)))


TABLE = {
    "Booster": regressor,
    "XGBRegressor": regressor,
    "XGBRFRegressor": regressor,
    "XGBRanker": regressor,
    "XGBClassifier": classifier,
    "XGBRFClassifier": classifier,
}
