"""Converts what a caller passes into arrays whose memory the C API reads, without a copy where the layout allows it.

An input may be a NumPy array, an object with __dlpack__ on the CPU (a torch tensor, a JAX array), or a number, list or
text. An array is not copied if it has the input's element type, the machine's byte order and rows without gaps.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from . import dlpack
from .element_types import ElementType, type_of_dtype
from .errors import InvalidArgument


def _describe(array: np.ndarray) -> str:
    found = type_of_dtype(array.dtype.newbyteorder("="))
    return found.name if found else str(array.dtype)


def as_input(name: str, wanted: ElementType, value: Any) -> np.ndarray:
    """Returns the input as an array of the storage type of `wanted`, in row-major order without gaps."""
    array = value if isinstance(value, np.ndarray) else _array_of(wanted, value)
    dtype = array.dtype
    if dtype is not wanted.storage and dtype != wanted.storage:
        if dtype == wanted.dtype:
            array = array.view(wanted.storage) if array.flags.c_contiguous else _packed(array).view(wanted.storage)
        elif dtype.newbyteorder("=") == wanted.storage:
            array = array.astype(wanted.storage)
        else:
            raise InvalidArgument(
                f"input '{name}': expected {wanted.name} ({wanted.dtype}), found {_describe(array)}; "
                f"convert it with .astype"
            )
    return array if array.flags.c_contiguous else _packed(array)


def _packed(array: np.ndarray) -> np.ndarray:
    # Copies to an array without gaps. np.ascontiguousarray is not used, because it turns a scalar
    # into an array with one dim.
    return np.array(array, order="C", copy=True)


def _array_of(wanted: ElementType, value: Any) -> np.ndarray:
    if hasattr(value, "__dlpack__"):
        return dlpack.as_array(value)
    if hasattr(value, "__array__"):
        return np.asarray(value)
    return np.asarray(value, dtype=wanted.dtype)


def as_strings(name: str, value: Any) -> np.ndarray:
    """Returns an input of strings as an array of bytes objects (dtype object)."""
    array = np.asarray(value, dtype=object)
    encoded = np.empty(array.shape, dtype=object)
    flat = encoded.reshape(-1)
    for i, item in enumerate(array.reshape(-1)):
        if isinstance(item, str):
            flat[i] = item.encode("utf-8")
        elif isinstance(item, bytes):
            flat[i] = item
        else:
            raise InvalidArgument(f"input '{name}': expected str or bytes, found {type(item).__name__}")
    return encoded


def check_output(name: str, wanted: ElementType, array: Any) -> np.ndarray:
    """Returns the storage of an array that receives a result. It is never copied."""
    if not isinstance(array, np.ndarray):
        raise InvalidArgument(f"result '{name}': expected a NumPy array to write to, found {type(array).__name__}")
    if array.dtype != wanted.storage and array.dtype != wanted.dtype:
        raise InvalidArgument(f"result '{name}': expected {wanted.name} ({wanted.dtype}), found {_describe(array)}")
    if not array.flags.c_contiguous or not array.flags.writeable:
        raise InvalidArgument(f"result '{name}': expected a writable array in row-major order without gaps")
    return array.view(wanted.storage) if array.dtype != wanted.storage else array
