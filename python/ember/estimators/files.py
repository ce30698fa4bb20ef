"""Recognises model files of XGBoost and LightGBM by their contents."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from . import boosting, lightgbm, xgboost

_HEAD = 64
_EXTENSIONS = (".json", ".ubj", ".txt", ".lgb", ".model")


def read(model: Any, name: str | None, dtype: Any) -> bytes | None:
    """Returns a model file of XGBoost or LightGBM as an ONNX model, and None for all other models."""
    if isinstance(model, (str, os.PathLike)):
        path = os.fsdecode(model)
        if not path.lower().endswith(_EXTENSIONS) or not os.path.isfile(path):
            return None
        with open(path, "rb") as file:
            head = file.read(_HEAD)
            if not (xgboost.is_model(head) or lightgbm.is_model(head)):
                return None
            data = head + file.read()
        name = os.path.basename(path)
    else:
        head = bytes(memoryview(model)[:_HEAD])
        if not (xgboost.is_model(head) or lightgbm.is_model(head)):
            return None
        data = bytes(model)
        name = name or "model"
    library = xgboost if xgboost.is_model(head) else lightgbm
    return boosting.to_onnx(library.read_model(data, name), name, np.dtype(dtype))
