"""Encoders of categories, and the imputation of missing values. Columns may be texts or numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from .columns import Columns
from .common import Results, is_string, refuse, require
from .graph import Value, concat


def _categories(estimator: Any, column: Value, categories: Any) -> Value:
    """Returns the categories of a column as a constant row [1, count]."""
    array = np.asarray(categories)
    if is_string(column):
        if not all(isinstance(c, str) for c in array.tolist()):
            refuse(estimator, "categories_", "texts alone or numbers alone", "a mixture")
        return column.graph.constant(np.array(array.tolist(), object).reshape(1, -1))
    if array.dtype.kind not in "fiub":
        refuse(estimator, "categories_", "texts alone or numbers alone", "a mixture")
    with np.errstate(invalid="ignore"):
        rounded = array.astype(column.dtype)
    if np.isnan(array.astype(np.float64)).any():
        refuse(estimator, "categories_", "categories without NaN", "NaN")
    if len(np.unique(rounded)) != len(array):
        refuse(estimator, "categories_", "categories that differ in f32; use dtype='float64'", "equal ones")
    return column.graph.constant(rounded.reshape(1, -1))


def _is_category(estimator: Any, column: Value, categories: Any) -> Value:
    """Returns for each row and category if the row has it, bool [N, count]."""
    return column.equal(_categories(estimator, column, categories))


def _check_infrequent(estimator: Any) -> None:
    for parameter in ("min_frequency", "max_categories"):
        if getattr(estimator, parameter, None) is not None:
            refuse(estimator, parameter, "None", getattr(estimator, parameter))


def one_hot(estimator: Any, x: Columns) -> Results:
    """Converts OneHotEncoder. An unknown category gives zeros, also where scikit-learn raises an exception."""
    _check_infrequent(estimator)
    require(estimator, "handle_unknown", ("error", "ignore"))
    parts = []
    for n, categories in enumerate(estimator.categories_):
        found = _is_category(estimator, x.column(n), categories).cast(x.number)
        dropped = None if estimator.drop_idx_ is None else estimator.drop_idx_[n]
        if dropped is not None:
            kept = [i for i in range(len(categories)) if i != dropped]
            if not kept:
                continue
            found = found.take(kept, 1)
        parts.append(found)
    return Results(transform=concat(parts))


def ordinal(estimator: Any, x: Columns) -> Results:
    """Converts OrdinalEncoder. An unknown category gives unknown_value, or -1 where scikit-learn raises."""
    _check_infrequent(estimator)
    require(estimator, "handle_unknown", ("error", "use_encoded_value"))
    unknown = estimator.unknown_value if estimator.handle_unknown == "use_encoded_value" else -1
    parts = []
    for n, categories in enumerate(estimator.categories_):
        found = _is_category(estimator, x.column(n), categories).cast(x.number)
        position = found @ np.arange(len(categories)).reshape(-1, 1)
        is_known = found.reduce("Max", 1, keep=True).greater(0.0)
        parts.append(is_known.where(position, float(unknown)))
    return Results(transform=concat(parts))


def simple_imputer(estimator: Any, x: Columns) -> Results:
    """Converts SimpleImputer. A column in which all training rows were missing is left out, as scikit-learn does."""
    require(estimator, "add_indicator", (False,))
    statistics, missing = np.asarray(estimator.statistics_), estimator.missing_values
    parts = []
    for n, statistic in enumerate(statistics.tolist()):
        column = x.column(n)
        if is_string(column):
            if not isinstance(missing, str):
                refuse(estimator, "missing_values", "a text, because the column has texts", missing)
            parts.append(column.equal(np.array(missing, object)).where(str(statistic), column))
            continue
        if not isinstance(missing, (int, float)):
            refuse(estimator, "missing_values", "a number", missing)
        if np.isnan(statistic):
            continue
        is_missing = (
            column.graph.node("IsNaN", [column], dtype=np.bool_) if np.isnan(missing) else column.equal(float(missing))
        )
        parts.append(is_missing.where(float(statistic), column))
    if any(is_string(p) for p in parts) and not all(is_string(p) for p in parts):
        refuse(estimator, "statistics_", "columns of texts alone or of numbers alone", "a mixture")
    return Results(transform=concat(parts))


TABLE = {"OneHotEncoder": one_hot, "OrdinalEncoder": ordinal, "SimpleImputer": simple_imputer}
