"""Writes ONNX models as protobuf bytes, so that the package onnx is not needed.

The numbers of the fields are those of onnx.proto. Initializers are written as raw data, strings as string data.
"""

from __future__ import annotations

import struct
from typing import Any, Iterable, Mapping, Sequence

import numpy as np

ELEMENT_TYPES = {
    np.dtype(np.float32): 1,
    np.dtype(np.uint8): 2,
    np.dtype(np.int32): 6,
    np.dtype(np.int64): 7,
    np.dtype(object): 8,  # strings
    np.dtype(np.bool_): 9,
    np.dtype(np.float64): 11,
}
# Versions of ONNX's operator sets in which the graph is written, and the oldest version of the file
# format that allows them.
OPSETS = {"": 18, "ai.onnx.ml": 5}
IR_VERSION = 9


def _varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _int(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(int(value))


def _bytes(field: int, value: bytes | str) -> bytes:
    data = value.encode("utf-8") if isinstance(value, str) else value
    return _varint(field << 3 | 2) + _varint(len(data)) + data


def tensor(name: str, array: np.ndarray) -> bytes:
    """Returns a TensorProto."""
    parts = [_int(1, extent) for extent in array.shape]
    parts.append(_int(2, ELEMENT_TYPES[array.dtype]))
    parts.append(_bytes(8, name))
    if array.dtype == object:
        parts += [_bytes(6, text) for text in array.ravel().tolist()]
    else:
        little = array.dtype.newbyteorder("<")
        parts.append(_bytes(9, np.ascontiguousarray(array, dtype=little).tobytes()))
    return b"".join(parts)


def _attribute(name: str, value: Any) -> bytes:
    if isinstance(value, np.ndarray):
        body, kind = _bytes(5, tensor("", value)), 4
    elif isinstance(value, str):
        body, kind = _bytes(4, value), 3
    elif isinstance(value, float):
        body, kind = _varint(2 << 3 | 5) + struct.pack("<f", value), 1
    elif isinstance(value, int):
        body, kind = _int(3, value), 2
    elif value and isinstance(value[0], float):
        body, kind = b"".join(_varint(7 << 3 | 5) + struct.pack("<f", v) for v in value), 6
    elif value and isinstance(value[0], str):
        body, kind = b"".join(_bytes(9, v) for v in value), 8
    else:
        body, kind = b"".join(_int(8, v) for v in value), 7
    return _bytes(1, name) + body + _int(20, kind)


def node(
    operator: str, domain: str, inputs: Iterable[str], outputs: Iterable[str], attributes: Mapping[str, Any]
) -> bytes:
    """Returns a NodeProto. An attribute is an int, a float, a str, a list of one of them, or an array."""
    parts = [_bytes(1, name) for name in inputs]
    parts += [_bytes(2, name) for name in outputs]
    parts.append(_bytes(4, operator))
    parts += [_bytes(5, _attribute(name, value)) for name, value in attributes.items()]
    if domain:
        parts.append(_bytes(7, domain))
    return b"".join(parts)


def value_info(name: str, dtype: np.dtype, dims: Sequence[int | str] | None) -> bytes:
    """Returns a ValueInfoProto. A dim that is a text is a symbol; without dims the rank is open."""
    body = _int(1, ELEMENT_TYPES[dtype])
    if dims is not None:
        shape = b"".join(_bytes(1, _bytes(2, d) if isinstance(d, str) else _int(1, d)) for d in dims)
        body += _bytes(2, shape)
    return _bytes(1, name) + _bytes(2, _bytes(1, body))


def model(
    name: str,
    nodes: Iterable[bytes],
    initializers: Iterable[bytes],
    inputs: Iterable[bytes],
    outputs: Iterable[bytes],
) -> bytes:
    """Returns a ModelProto."""
    graph = [_bytes(1, n) for n in nodes]
    graph.append(_bytes(2, name))
    graph += [_bytes(5, i) for i in initializers]
    graph += [_bytes(11, i) for i in inputs]
    graph += [_bytes(12, o) for o in outputs]
    opsets = [_bytes(8, _bytes(1, domain) + _int(2, version)) for domain, version in OPSETS.items()]
    return b"".join([_int(1, IR_VERSION), _bytes(2, "ember"), _bytes(7, b"".join(graph)), *opsets])
