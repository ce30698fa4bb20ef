"""Sequences, optionals and maps: values of a model that a module holds as several tensors.

A sequence is a list of arrays, an optional is None or its value, and a map is a dict. The C API, and `Module.inputs`,
have the tensors of which they consist (frontends/onnx/node/sequence.h):

    NAME, NAME.dims                    a sequence, or an optional tensor: its elements one after the other, their shapes
    NAME, NAME.dims, NAME.present      an optional sequence
    NAME, NAME.keys                    a map, or a sequence of maps with the same keys
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Sequence

import numpy as np

from .errors import InvalidArgument

if TYPE_CHECKING:
    from .module import TensorInfo

TENSOR, SEQUENCE, OPTIONAL, OPTIONAL_SEQUENCE, MAP = range(5)


@dataclass(frozen=True)
class Value:
    """A value of the model: the tensors first, first + 1, … of a module's inputs or results."""

    name: str
    kind: int
    first: int
    count: int


def group(infos: Sequence[TensorInfo]) -> tuple[Value, ...]:
    """Returns the values that tensors represent together, in order."""
    values: list[Value] = []
    i = 0
    while i < len(infos):
        kind = _kind(infos, i)
        count = {TENSOR: 1, OPTIONAL_SEQUENCE: 3}.get(kind, 2)
        values.append(Value(infos[i].name, kind, i, count))
        i += count
    return tuple(values)


def _kind(infos: Sequence[TensorInfo], i: int) -> int:
    def follows(offset: int, suffix: str, *types: str) -> str:
        at = i + offset
        if at < len(infos) and infos[at].name == infos[i].name + suffix and infos[at].logical_type in types:
            return infos[at].logical_type
        return ""

    dims = follows(1, ".dims", "sequence_dims", "optional_dims")
    if not dims:
        return MAP if follows(1, ".keys", "map_keys", "string") else TENSOR
    if follows(2, ".present", "present"):
        return OPTIONAL_SEQUENCE
    return OPTIONAL if dims == "optional_dims" else SEQUENCE


def split(value: Value, infos: Sequence[TensorInfo], given: Any) -> list[Any]:
    """Returns the tensors of an input. `infos` are all inputs of the module."""
    if value.kind == TENSOR:
        return [given]
    if value.kind == MAP:
        raise InvalidArgument(
            f"input '{value.name}': expected its tensors '{value.name}' and '{value.name}.keys' by name, as maps are "
            f"not supported as inputs"
        )
    if value.kind == SEQUENCE and not isinstance(given, (list, tuple)):
        raise InvalidArgument(f"input '{value.name}': expected a list of arrays, found {type(given).__name__}")
    present = given is not None
    items = [] if not present else [given] if value.kind == OPTIONAL else list(given)
    parts = _split_items(infos[value.first], infos[value.first + 1], items)
    return [*parts, np.array(present)] if value.kind == OPTIONAL_SEQUENCE else parts


def _split_items(data: TensorInfo, dims: TensorInfo, items: list[Any]) -> list[Any]:
    dtype = np.dtype(object) if data.is_string else data.element_type.dtype
    arrays = [np.asarray(item, dtype=None if isinstance(item, np.ndarray) else dtype) for item in items]
    rank = dims.shape[1] if isinstance(dims.shape[1], int) else max((a.ndim for a in arrays), default=0)
    shapes = np.full((len(arrays), rank), -1, np.int64)
    for row, array in zip(shapes, arrays):
        if array.ndim > rank:
            raise InvalidArgument(
                f"input '{data.name}': expected elements of at most {rank} dims, found {array.ndim}; pin their rank "
                f"when compiling"
            )
        row[: array.ndim] = array.shape
    flat = np.concatenate([a.reshape(-1) for a in arrays]) if arrays else np.empty(0, dtype)
    return [flat, shapes]


def join(value: Value, parts: Sequence[Any]) -> Any:
    """Returns a result that consists of these tensors."""
    if value.kind == TENSOR:
        return parts[0]
    if value.kind == MAP:
        keys = parts[1].tolist()
        rows = parts[0]
        return dict(zip(keys, rows.tolist())) if rows.ndim == 1 else [dict(zip(keys, row)) for row in rows.tolist()]
    items, at = [], 0
    for row in parts[1]:
        shape = tuple(int(d) for d in row if d >= 0)
        size = int(np.prod(shape, dtype=np.int64))
        items.append(parts[0][at : at + size].reshape(shape))
        at += size
    if value.kind == OPTIONAL:
        return items[0] if items else None
    return None if value.kind == OPTIONAL_SEQUENCE and not parts[2] else items
