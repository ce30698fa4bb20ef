"""The input of an estimator: a matrix, or columns of which some are texts and some are numbers."""

from __future__ import annotations

from typing import Any, Sequence

import numpy as np

from ..errors import Unimplemented
from .graph import STRING, Graph, Value, concat


class Columns:
    """The columns of a table: one matrix [N, F], or a value [N, 1] for each column."""

    def __init__(self, values: Value | Sequence[Value], count: int, number: np.dtype):
        self._values = values
        self.count = count
        self.number = number  # The type of columns that hold numbers. It is set even if all columns are texts.

    def column(self, index: int) -> Value:
        """Returns a column, [N, 1]."""
        if isinstance(self._values, Value):
            return self._values if self.count == 1 else self._values.take([index], 1)
        return self._values[index]

    def select(self, indices: Sequence[int]) -> Columns:
        """Returns some of the columns."""
        if list(indices) == list(range(self.count)):
            return self
        if isinstance(self._values, Value):
            return Columns(self._values.take(list(indices), 1), len(indices), self.number)
        return Columns([self._values[i] for i in indices], len(indices), self.number)

    def matrix(self, estimator: Any) -> Value:
        """Returns all columns as one matrix of numbers."""
        if isinstance(self._values, Value):
            found = self._values
        else:
            texts = [v for v in self._values if v.dtype == STRING]
            if texts and len(texts) != len(self._values):
                raise Unimplemented(f"{type(estimator).__name__}: expected columns of numbers, found one of texts")
            found = concat(self._values)
        if found.dtype == STRING:
            raise Unimplemented(f"{type(estimator).__name__}: expected columns of numbers, found texts")
        return found

    def passed(self) -> Value:
        """Returns the columns as they are, for "passthrough"."""
        return self._values if isinstance(self._values, Value) else concat(self._values)


def resolve(estimator: Any, chosen: Any) -> list[int]:
    """Returns the indices of columns that a ColumnTransformer has as names, indices, a slice or flags."""
    names = [str(n) for n in getattr(estimator, "feature_names_in_", ())]
    count = estimator.n_features_in_
    if isinstance(chosen, slice):
        start, stop = (names.index(e) if isinstance(e, str) else e for e in (chosen.start, chosen.stop))
        # A slice by column names includes its last column, as in pandas; Python's slices exclude
        # it.
        stop = stop + 1 if isinstance(chosen.stop, str) else stop
        return list(range(count))[slice(start, stop, chosen.step)]
    array = np.atleast_1d(np.asarray(chosen, object if not hasattr(chosen, "dtype") else None))
    if len(array) == 0:
        return []
    if isinstance(array[0], (bool, np.bool_)):
        return [i for i, flag in enumerate(array.tolist()) if flag]
    return [names.index(c) if isinstance(c, str) else int(c) % count for c in array.tolist()]


def text_columns(estimator: Any) -> set[int]:
    """Returns the columns of the input that are texts, by the categories and statistics that were fitted."""
    kind = type(estimator).__name__
    if kind == "Pipeline":
        steps = [step for _, step in estimator.steps if step is not None and step != "passthrough"]
        return text_columns(steps[0]) if steps else set()
    if kind == "FeatureUnion":
        return set().union(*(text_columns(t) for _, t in estimator.transformer_list if not isinstance(t, str)))
    if kind == "ColumnTransformer":
        found: set[int] = set()
        for _, transformer, chosen in estimator.transformers_:
            indices = [] if isinstance(transformer, str) else resolve(estimator, chosen)
            inner = text_columns(transformer) if indices else set()
            found |= {indices[i] for i in inner}
        return found
    if kind in ("OneHotEncoder", "OrdinalEncoder"):
        return {i for i, c in enumerate(estimator.categories_) if np.asarray(c).dtype.kind in "OUS"}
    if kind == "SimpleImputer":
        statistics = np.asarray(estimator.statistics_)
        is_text = statistics.dtype.kind in "OUS"
        return {i for i, s in enumerate(statistics.tolist()) if is_text and isinstance(s, str)}
    return set()


def make_inputs(graph: Graph, estimator: Any, number: np.dtype) -> Columns:
    """Adds the inputs of a model: "x", or an input for each column if texts and numbers are mixed."""
    count, texts = estimator.n_features_in_, text_columns(estimator)
    if not texts or len(texts) == count:
        return Columns(graph.input("x", STRING if texts else number, ("rows", count)), count, number)
    names = [str(n) for n in getattr(estimator, "feature_names_in_", [f"x{i}" for i in range(count)])]
    values = [graph.input(n, STRING if i in texts else number, ("rows", 1)) for i, n in enumerate(names)]
    return Columns(values, count, number)
