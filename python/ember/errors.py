"""The exceptions of the package: one class per status of the C API, each with a message of one line.

>>> import ember
>>> try:
...     ember.load("/nonexistent.vmfb")
... except ember.NotFound as error:
...     print(error)
cannot open file '/nonexistent.vmfb': No such file or directory
"""

from __future__ import annotations

import os
from types import TracebackType
from typing import Sequence

_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep


class Error(RuntimeError):
    """The base class. `status` is the number of the C API's EmberStatus."""

    status = 7

    # Text that a notebook shows below the error message, such as the loops of a schedule if one of
    # its steps was refused.
    drawing = ""

    def _render_traceback_(self) -> list[str]:
        """Returns the lines that a notebook shows: without the frames in this package, which do not help the reader."""
        from IPython import get_ipython  # type: ignore[import-not-found,attr-defined]

        tables = get_ipython().InteractiveTB
        lines = list(tables.structured_traceback(type(self), self, _outside(self.__traceback__)))
        return lines + (["", self.drawing] if self.drawing else [])


def _outside(trace: TracebackType | None) -> TracebackType | None:
    """Returns the frames up to the first one in this package."""
    if trace is None or trace.tb_frame.f_code.co_filename.startswith(_PACKAGE):
        return None
    return TracebackType(_outside(trace.tb_next), trace.tb_frame, trace.tb_lasti, trace.tb_lineno)


class InvalidArgument(Error, ValueError):
    """An input, an option or a model is wrong."""

    status = 1


class NotFound(Error, LookupError):
    """There is no such file, input or result."""

    status = 2


class Unimplemented(Error, NotImplementedError):
    """The input is valid, but not supported. The message names the thing."""

    status = 3


class DataLoss(Error):
    """A file is truncated or corrupt."""

    status = 4


class ResourceExhausted(Error):
    """A limit was exceeded, or there is no memory."""

    status = 5


class FailedPrecondition(Error):
    """An object is not in the state that the call needs."""

    status = 6


class Internal(Error):
    """Ember has a bug. Please report it."""

    status = 7


class Cancelled(Error):
    """Another thread, a progress function or Ctrl-C stopped the call."""

    status = 8


class CompileError(Error):
    """Is a base of the exceptions of ember.compile. `diagnostics` has what the compiler said."""

    diagnostics: Sequence[object] = ()


CLASSES = {
    c.status: c
    for c in (
        InvalidArgument,
        NotFound,
        Unimplemented,
        DataLoss,
        ResourceExhausted,
        FailedPrecondition,
        Internal,
        Cancelled,
    )
}


def _both(base: type[Error]) -> type[Error]:
    return type(base.__name__, (base, CompileError), {"__module__": __name__, "__doc__": base.__doc__})


_COMPILE_CLASSES = {status: _both(base) for status, base in CLASSES.items()}


def make_error(status: int, message: str, diagnostics: Sequence[object] | None = None) -> Error:
    """Returns the exception for a status. With diagnostics it is a CompileError, too."""
    if diagnostics is None:
        return CLASSES.get(status, Internal)(message)
    error = _COMPILE_CLASSES.get(status, _COMPILE_CLASSES[7])(message)
    error.diagnostics = tuple(diagnostics)  # type: ignore[attr-defined]
    return error
