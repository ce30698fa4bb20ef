"""Element types: the C API's EmberType, NumPy's dtypes, and ONNX Runtime's names.

NumPy has no bf16 and no 8-bit floats. If the package ml_dtypes is installed, such inputs may have its dtypes, and
results have them. Without ml_dtypes a bf16 is its 16 bits as uint16, and an 8-bit float its 8 bits as uint8:

>>> import numpy as np
>>> bits = np.array([1.5, -2.0], np.float32).view(np.uint32) >> 16   # bf16 is the upper half of f32
>>> [hex(b) for b in bits]
['0x3fc0', '0xc000']
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class ElementType:
    """An element type. `storage` is the NumPy dtype whose buffer the C API gets; `dtype` that of results."""

    number: int  # EmberType
    name: str  # Ember's name of the type, such as "f32"
    onnx: str  # the name in ONNX Runtime's types: "float" of "tensor(float)"
    storage: np.dtype
    extended: str | None = None  # the name in ml_dtypes of a type that NumPy lacks

    @property
    def dtype(self) -> np.dtype:
        return _EXTENDED.get(self.name, self.storage)


def _type(number: int, name: str, onnx: str, storage: Any, extended: str | None = None) -> ElementType:
    return ElementType(number, name, onnx, np.dtype(storage), extended)


TYPES = (
    _type(0, "bool", "bool", np.bool_),
    _type(1, "i8", "int8", np.int8),
    _type(2, "i16", "int16", np.int16),
    _type(3, "i32", "int32", np.int32),
    _type(4, "i64", "int64", np.int64),
    _type(5, "u8", "uint8", np.uint8),
    _type(6, "u16", "uint16", np.uint16),
    _type(7, "u32", "uint32", np.uint32),
    _type(8, "u64", "uint64", np.uint64),
    _type(9, "f16", "float16", np.float16),
    _type(10, "bf16", "bfloat16", np.uint16, "bfloat16"),
    _type(11, "f32", "float", np.float32),
    _type(12, "f64", "double", np.float64),
    _type(13, "f8e4m3fn", "float8e4m3fn", np.uint8, "float8_e4m3fn"),
    _type(14, "f8e5m2", "float8e5m2", np.uint8, "float8_e5m2"),
)
BY_NAME = {t.name: t for t in TYPES}
_EXTENDED: dict[str, np.dtype] = {}
_BY_DTYPE = {t.storage: t for t in reversed(TYPES) if t.extended is None}


def _use_ml_dtypes(module: Any) -> None:
    for t in TYPES:
        if t.extended is not None and hasattr(module, t.extended):
            _EXTENDED[t.name] = np.dtype(getattr(module, t.extended))
            _BY_DTYPE[_EXTENDED[t.name]] = t


try:
    import ml_dtypes
except ImportError:
    pass
else:
    _use_ml_dtypes(ml_dtypes)


def type_of_dtype(dtype: np.dtype) -> ElementType | None:
    """Returns the element type of a NumPy dtype in the machine's byte order; None if there is none."""
    return _BY_DTYPE.get(dtype)
