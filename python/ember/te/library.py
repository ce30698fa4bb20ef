"""Loads the C API for kernels (ember_te.h in libember_jit.so), and turns its statuses into exceptions."""

from __future__ import annotations

from typing import Any

from .. import _native
from .._native import ffi, lib, text
from ..errors import make_error

_native.load_te()


def check(status: int) -> None:
    """Raises the exception for a failed call on this thread."""
    if status:
        raise make_error(status, text(lib.te_error_message()))


def info(kind: str) -> Any:
    """Returns a struct of this type for the library to fill."""
    return ffi.new(kind + "*", {"struct_size": ffi.sizeof(kind)})
