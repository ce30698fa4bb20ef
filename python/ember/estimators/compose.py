"""Pipelines, column transformers and votes: estimators that contain others."""

from __future__ import annotations

from typing import Any

import numpy as np

from .columns import Columns, resolve
from .common import Results, check_classes, labels, refuse, require
from .graph import Value, concat


def pipeline(estimator: Any, x: Columns) -> Results:
    from .table import convert

    results = Results(transform=x.passed()) if not _steps(estimator) else Results()
    for step in _steps(estimator):
        results = convert(step, x)
        if results.transform is not None:
            value = results.transform
            x = Columns(value, getattr(step, "n_features_out_", -1), x.number)
    return results


def _steps(estimator: Any) -> list[Any]:
    return [step for _, step in estimator.steps if step is not None and step != "passthrough"]


def column_transformer(estimator: Any, x: Columns) -> Results:
    from .table import convert

    parts = []
    for name, transformer, chosen in estimator.transformers_:
        indices = resolve(estimator, chosen)
        if not indices or (isinstance(transformer, str) and transformer == "drop"):
            continue
        part = x.select(indices)
        if isinstance(transformer, str):
            found: Value | None = part.passed()
        else:
            found = convert(transformer, part).transform
        if found is None:
            refuse(estimator, "transformers", "transformers", f"a {type(transformer).__name__}")
        weight = (estimator.transformer_weights or {}).get(name, 1)
        parts.append(found if weight == 1 else found * float(weight))
    if not parts:
        refuse(estimator, "transformers", "one or more columns in the result", "none")
    if len({p.dtype for p in parts}) > 1:
        refuse(estimator, "transformers", "a result of numbers alone or texts alone", "a mixture")
    return Results(transform=concat(parts))


def feature_union(estimator: Any, x: Columns) -> Results:
    from .table import convert

    parts = []
    for name, transformer in estimator.transformer_list:
        if isinstance(transformer, str) and transformer == "drop":
            continue
        found = x.passed() if isinstance(transformer, str) else convert(transformer, x).transform
        if found is None:
            refuse(estimator, "transformer_list", "transformers", f"a {type(transformer).__name__}")
        weight = (estimator.transformer_weights or {}).get(name, 1)
        parts.append(found if weight == 1 else found * float(weight))
    return Results(transform=concat(parts))


def voting_regressor(estimator: Any, x: Columns) -> Results:
    from .table import convert

    total, weights = None, _weights(estimator)
    for weight, member in zip(weights, estimator.estimators_):
        found = convert(member, x).predict
        assert found is not None
        part = found * float(weight / weights.sum())
        total = part if total is None else total + part
    return Results(total)


def voting_classifier(estimator: Any, x: Columns) -> Results:
    from .table import convert

    require(estimator, "voting", ("soft",))
    total, weights = None, _weights(estimator)
    for weight, member in zip(weights, estimator.estimators_):
        found = convert(member, x).predict_proba
        if found is None:
            refuse(estimator, "estimators", "classifiers with probabilities", f"a {type(member).__name__}")
        part = found * float(weight / weights.sum())
        total = part if total is None else total + part
    assert total is not None
    return Results(labels(total.argmax(), check_classes(estimator)), total)


def _weights(estimator: Any) -> np.ndarray:
    members = estimator.estimators
    given = estimator.weights or [1] * len(members)
    return np.array([w for w, (_, m) in zip(given, members) if not (isinstance(m, str) and m == "drop")], float)


TABLE = {
    "Pipeline": pipeline,
    "ColumnTransformer": column_transformer,
    "FeatureUnion": feature_union,
    "VotingRegressor": voting_regressor,
    "VotingClassifier": voting_classifier,
}
