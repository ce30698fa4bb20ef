"""Loads the C API for kernels (ember_te.h in libember_jit.so), and turns its statuses into exceptions."""

from __future__ import annotations

import contextlib
import threading
from typing import Any, Iterator

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


@contextlib.contextmanager
def stoppable(*calls: Any) -> Iterator[None]:
    """Lets Ctrl-C stop the calls (EmberTeCall) that the main thread makes in the block."""
    if threading.get_ident() != _native.main_thread:
        yield
        return
    handle = ffi.new("EmberTeStop**")
    check(lib.te_stop_create(handle))
    try:
        for call in calls:
            call.stop = handle[0]
        lib.ember_python_watch_te(handle[0])
        yield
    finally:
        lib.ember_python_watch_te(ffi.NULL)
        for call in calls:
            call.stop = ffi.NULL
        lib.te_stop_release(handle[0])
