"""Loads libember.so and libember_compiler.so, and turns statuses into exceptions.

The libraries are looked for in this order: the folder that the environment variable EMBER_LIBRARY_FOLDER names, the
folder `lib` of this package (a wheel has them there), and the system's folders (the Debian packages have them there).
"""

from __future__ import annotations

import functools
import os
import signal
import sys
import threading
from pathlib import Path
from typing import Any, Callable, NoReturn

from .errors import make_error

try:
    from . import _ember
except ImportError as error:
    if "_cffi_backend" in str(error):
        raise ImportError(
            "ember needs the module _cffi_backend, which is missing; install cffi (Debian: python3-cffi-backend)"
        ) from error
    raise ImportError(
        f"ember/_ember.abi3.so cannot be loaded ({error}); build it with python/build_wheel.py, or install a wheel"
    ) from error

ffi: Any = _ember.ffi
lib: Any = _ember.lib

VERSION: str = ffi.string(ffi.cast("const char*", lib.ember_python_version)).decode()
_PACKAGE = Path(__file__).resolve().parent
_compiler_lock = threading.Lock()
_has_compiler = False
_has_te = False


def _candidates(name: str) -> list[str]:
    folder = os.environ.get("EMBER_LIBRARY_FOLDER")
    if folder:
        return [str(Path(folder) / name)]
    found = [str(p) for p in (_PACKAGE / "lib" / name,) if p.exists()]
    return found or [name + ".0"]


def _load(name: str, load: Callable[[bytes], Any], package: str) -> None:
    reasons = []
    for path in _candidates(name):
        reason = load(os.fsencode(path))
        if reason == ffi.NULL:
            return
        reasons.append(ffi.string(reason).decode(errors="replace"))
    raise ImportError(f"{name}: expected the library, found: {'; '.join(reasons)}; install {package}, or a wheel")


# Loads the wheel's copy of libre2, if it has one. The library for models with strings needs libre2,
# and finds a copy that is loaded.
for _path in sorted((_PACKAGE / "lib/needed").glob("libre2.so*")):
    lib.ember_python_preload(os.fsencode(_path))
_load("libember.so", lib.ember_python_load_runtime, "libember")


def load_compiler() -> None:
    """Loads libember_compiler.so at the first call. A program that only runs modules does not need it."""
    global _has_compiler
    if _has_compiler:
        return
    with _compiler_lock:
        # Loads the wheel's copies of libraries that the compiler needs, if it has any. The dynamic
        # linker finds a library by its name if it is loaded already.
        for path in sorted((_PACKAGE / "lib/needed").glob("*.so*")):
            lib.ember_python_preload(os.fsencode(path))
        if (_PACKAGE / "lib/libember.so").exists() and not (_PACKAGE / "lib/libember_compiler.so").exists():
            if "EMBER_LIBRARY_FOLDER" not in os.environ:
                raise ImportError(
                    "this wheel has the runtime alone, without libember_compiler.so; compile the model with the wheel "
                    "of another machine, save the module, and load it here with ember.load"
                )
        _load("libember_compiler.so", lib.ember_python_load_compiler, "libember-compiler")
        _has_compiler = True


def load_te() -> None:
    """Loads the C API for kernels from libember_jit.so at the first call."""
    global _has_te
    with _compiler_lock:
        if not _has_te:
            _load("libember_jit.so", lib.ember_python_load_te, "libember-jit")
            _has_te = True


@functools.lru_cache(maxsize=1)
def missing_llvm() -> str | None:
    """Returns the reason for which the wheel's libember_llvm.so cannot be loaded, or None. It loads LLVM."""
    path = _PACKAGE / "lib/libember_llvm.so"
    if os.environ.get("EMBER_LIBRARY_FOLDER") or not path.exists():
        return None
    reason = lib.ember_python_preload(os.fsencode(path))
    return None if reason == ffi.NULL else text(reason)


def text(pointer: Any) -> str:
    """Returns a C string as str; "" for NULL."""
    return "" if pointer == ffi.NULL else ffi.string(pointer).decode("utf-8", errors="replace")


def fail(status: int) -> NoReturn:
    """Raises the exception for a failed call of the runtime on this thread."""
    raise make_error(status, text(lib.ember_error_message()))


def check(status: int) -> None:
    """Raises an exception if a call of the runtime failed."""
    if status:
        fail(status)


def owned(handle: Any, release: Callable[[Any], None], *keep: object) -> Any:
    """Returns a handle that releases its object when it is collected, and after that what the object uses.

    Python clears the attributes of an object in any order, so that an attribute could not do this.
    """
    return ffi.gc(handle, functools.partial(_release, release, keep))


def _release(release: Callable[[Any], None], keep: object, handle: Any) -> None:
    release(handle)


# --- the main thread, which receives Ctrl-C -----------------------------------
main_thread = threading.main_thread().ident


def _after_fork() -> None:
    global main_thread
    main_thread = threading.get_ident()


os.register_at_fork(after_in_child=_after_fork)


# --- progress ------------------------------------------------------------------
class ProgressEvent:
    """Describes a step of long work: `stage`, `item`, and `done` of `total` steps (0: not known)."""

    __slots__ = ("stage", "item", "done", "total")

    def __init__(self, stage: str, item: str, done: int, total: int):
        self.stage, self.item, self.done, self.total = stage, item, done, total

    def __repr__(self) -> str:
        return f"ProgressEvent(stage={self.stage!r}, item={self.item!r}, done={self.done}, total={self.total})"


class Progress:
    """Passes the progress of one call to a function of the user, and keeps the exception that the function raised.

    Python handles Ctrl-C between two steps, on the main thread: KeyboardInterrupt stops the call.
    """

    def __init__(self, function: Callable[[ProgressEvent], object] | None):
        self._function = function
        self._handle = ffi.new_handle(self)
        self.error: BaseException | None = None
        self.struct = ffi.new(
            "EmberProgress*",
            {
                "struct_size": ffi.sizeof("EmberProgress"),
                "context": self._handle,
                "report": lib.ember_python_on_progress,
            },
        )

    def report(self, event: Any) -> int:
        if self._function is None:
            return 1
        made = ProgressEvent(text(event.stage), text(event.item), event.done, event.total)
        return 0 if self._function(made) is False else 1

    def check(self) -> None:
        """Raises the exception that stopped the call, if there is one."""
        if self.error is not None:
            error, self.error = self.error, None
            raise error


def _progress_failed(kind: Any, error: BaseException, trace: Any) -> int:
    # Stores the exception in the object whose method started the compilation: the callback's
    # argument `context` is its handle.
    frame = trace
    while frame is not None:
        context = frame.tb_frame.f_locals.get("context")
        if context is not None:
            ffi.from_handle(context).error = error
            return 0
        frame = frame.tb_next
    return 0


@ffi.def_extern(name="ember_python_on_progress", error=0, onerror=_progress_failed)
def _on_progress(context: Any, event: Any) -> int:
    return ffi.from_handle(context).report(event)


# --- logging -------------------------------------------------------------------
class Logger:
    """Passes the lines of a session to a function: log(level, line), level "info", "warning" or "error"."""

    LEVELS = ("info", "warning", "error")

    def __init__(self, function: Callable[[str, str], object]):
        self.function = function
        self._handle = ffi.new_handle(self)
        self.struct = ffi.new(
            "EmberLogger*",
            {"struct_size": ffi.sizeof("EmberLogger"), "context": self._handle, "log": lib.ember_python_on_log},
        )


@ffi.def_extern(name="ember_python_on_log")
def _on_log(context: Any, level: int, line: Any) -> None:
    if not sys.is_finalizing():
        ffi.from_handle(context).function(Logger.LEVELS[level], text(line))


def handles_interrupt() -> bool:
    """Returns True if Python would raise KeyboardInterrupt on Ctrl-C in this thread."""
    return threading.get_ident() == main_thread and signal.getsignal(signal.SIGINT) not in (
        signal.SIG_DFL,
        signal.SIG_IGN,
        None,
    )
