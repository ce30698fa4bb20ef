"""Recognises model files of XGBoost and LightGBM by their contents.

The code that reads them is loaded when it is needed.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np

_HEAD = 64
_EXTENSIONS = (".json", ".ubj", ".txt", ".lgb", ".model")


def library_of(head: bytes) -> str | None:
    """Returns "xgboost" or "lightgbm" if a file begins so, and None for all other files."""
    if head.lstrip()[:1] == b"{":
        body = head.lstrip()[1:]
        is_text = body.lstrip().startswith(b'"learner"')
        # In a UBJSON file of XGBoost, the length of a key comes before the key: L and a 64-bit 7 before
        # "learner".
        return "xgboost" if is_text or body.startswith(b"L\0\0\0\0\0\0\0\x07learner") else None
    is_tree = head.split(b"\n", 1)[0].strip() == b"tree" and b"\nversion=" in head
    return "lightgbm" if is_tree else None


def read(model: Any, name: str | None, dtype: Any) -> bytes | None:
    """Returns a model file of XGBoost or LightGBM as an ONNX model, and None for all other models."""
    if isinstance(model, (str, os.PathLike)):
        path = os.fsdecode(model)
        if not path.lower().endswith(_EXTENSIONS) or not os.path.isfile(path):
            return None
        with open(path, "rb") as file:
            head = file.read(_HEAD)
            library = library_of(head)
            data = head + file.read() if library is not None else b""
        name = os.path.basename(path)
    else:
        library = library_of(bytes(memoryview(model)[:_HEAD]))
        data = bytes(model) if library is not None else b""
    if library is None:
        return None
    from .estimators import boosting, lightgbm, xgboost

    reader = xgboost if library == "xgboost" else lightgbm
    name = name or "model"
    return boosting.to_onnx(reader.read_model(data, name), name, np.dtype(dtype))
