"""Runs modules.

>>> import ember, numpy as np
>>> module = ember.compile(b'''
... module @scale {
...   func.func @main(%x: tensor<2x2xf32>, %f: tensor<2x2xf32>) -> tensor<2x2xf32> {
...     %0 = stablehlo.multiply %x, %f : tensor<2x2xf32>
...     return %0 : tensor<2x2xf32>
...   }
... }
... ''')
>>> session = ember.Session(module, tier="interpreter", threads=1)
>>> x = np.array([[1, 2], [3, 4]], np.float32)
>>> result = np.empty((2, 2), np.float32)
>>> session(x, f=x, out=result) is result
True
>>> result
array([[ 1.,  4.],
       [ 9., 16.]], dtype=float32)
"""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass
from typing import Callable, Mapping

from ._native import Logger, Progress, ProgressEvent, check, ffi, lib, missing_llvm, owned, text
from .errors import InvalidArgument
from .module import Module
from .profile import Profile, TraceEvent, read_profile, read_trace
from .runner import Runner

TIERS = {"interpreter": 0, "baseline": 1, "optimized": 2, "auto": 3}
COMPILE_IN = {"worker_if_there": 0, "thread": 1, "worker": 2}


@dataclass(frozen=True)
class SessionInfo:
    """Describes a session: EmberSessionInfo of the C API."""

    device: str
    target: str
    tier: str
    arena_bytes: int
    pool_bytes: int
    peak_bytes: int


def _choice(what: str, choices: Mapping[str, int], value: str) -> int:
    if value not in choices:
        raise InvalidArgument(f"{what}: expected {', '.join(choices)}, found {value!r}")
    return choices[value]


class Session(Runner):
    """A module that is ready to run, with its memory and limits.

    One run at a time is in progress in a session: another thread that calls it waits. The interpreter's lock is
    released while a run computes. Ctrl-C cancels a run that the main thread waits for.

    Args:
      module: a Module, or what ember.load takes.
      tier: "auto" (kernels are made while the model runs), "optimized", "baseline" or "interpreter".
      threads: the number of threads that compute, with the caller's; 0: one per core.
      device: "cpu" or the name of another device, see ember.devices().
      memory_limit, work_limit, step_limit: as EmberSessionOptions; 0: the default, negative: no limit.
      max_seconds: the time limit of a run; 0: no limit.
      allow_native: native code in the module may run. Allow it only if you trust the module's maker.
      native_key: 32 bytes; native code that was signed with the secret of this key may run.
      kernel_cache: the folder in which compiled kernels are stored for later processes.
      compile_in: "worker_if_there", "thread" or "worker": the place where kernels are compiled.
      profile, trace: measures each dispatch, for profile() and trace().
      library_folder: the folder with libember_jit.so; None: beside libember.so.
      progress: is called before each step of making the session; False stops it.
      logger: is called with a level and a line; on any thread.
    """

    def __init__(
        self,
        module: Module | str | os.PathLike[str] | bytes,
        *,
        tier: str = "auto",
        threads: int = 0,
        device: str | None = None,
        memory_limit: int = 0,
        work_limit: int = 0,
        step_limit: int = 0,
        max_seconds: float = 0,
        allow_native: bool = False,
        native_key: bytes | None = None,
        kernel_cache: str | os.PathLike[str] | None = None,
        compile_in: str = "worker_if_there",
        profile: bool = False,
        trace: bool = False,
        library_folder: str | os.PathLike[str] | None = None,
        progress: Callable[[ProgressEvent], object] | None = None,
        logger: Callable[[str, str], object] | None = None,
    ):
        if not isinstance(module, Module):
            from .module import load

            module = load(module)
        if native_key is not None and len(native_key) != 32:
            raise InvalidArgument(f"native_key: expected 32 bytes, found {len(native_key)}")
        # The tiers optimized and baseline load LLVM into this process in any case, so checking for
        # it here costs no time.
        if tier in ("optimized", "baseline") and library_folder is None and compile_in != "worker":
            reason = missing_llvm()
            if reason is not None:
                warnings.warn(
                    f"tier '{tier}': expected LLVM, found none, so the interpreter runs the module: {reason}; "
                    "install LLVM 19 (Debian: apt-get install libllvm19)",
                    RuntimeWarning,
                    stacklevel=2,
                )
        logging = Logger(logger) if logger is not None else None
        listener = Progress(progress)
        texts = [
            ffi.NULL if t is None else ffi.new("char[]", os.fsencode(t)) for t in (device, library_folder, kernel_cache)
        ]
        key = ffi.NULL if native_key is None else ffi.new("uint8_t[]", native_key)
        options = ffi.new(
            "EmberSessionOptions*",
            {
                "struct_size": ffi.sizeof("EmberSessionOptions"),
                "threads": threads,
                "memory_limit": memory_limit,
                "work_limit": work_limit,
                "step_limit": step_limit,
                "max_seconds": max_seconds,
                "tier": _choice("tier", TIERS, tier),
                "profile": profile,
                "trace": trace,
                "allow_native": allow_native,
                "device": texts[0],
                "library_folder": texts[1],
                "kernel_cache_folder": texts[2],
                "native_key": key,
                "compile_in": _choice("compile_in", COMPILE_IN, compile_in),
                "progress": listener.struct,
                "logger": logging.struct if logging else ffi.NULL,
            },
        )
        handle = ffi.new("EmberSession**")
        status = lib.ember_session_create(module._handle, options, handle)
        listener.check()
        check(status)
        super().__init__(module, owned(handle[0], lib.ember_session_release, module._owner, logging))

    def cancel(self) -> None:
        """Stops the run that is in progress, if there is one: it raises ember.Cancelled. Any thread may call it."""
        lib.ember_session_cancel(self._handle)

    def set_max_seconds(self, seconds: float) -> None:
        """Sets the time limit of the next runs; 0: no limit."""
        with self._lock:
            check(lib.ember_session_set_max_seconds(self._handle, seconds))

    @property
    def info(self) -> SessionInfo:
        """The session's device, tier and memory."""
        info = ffi.new("EmberSessionInfo*", {"struct_size": ffi.sizeof("EmberSessionInfo")})
        check(lib.ember_session_info(self._handle, info))
        tier = list(TIERS)[info.tier]
        return SessionInfo(
            text(info.device), text(info.target), tier, info.arena_bytes, info.pool_bytes, info.peak_bytes
        )

    @property
    def native_kernels(self) -> str:
        """A line that says how many dispatches run native code of the module, or why none does."""
        return text(lib.ember_session_native_kernels(self._handle))

    def progress(self) -> tuple[int, int]:
        """Returns two numbers of dispatches: those that the current or last run has begun, and those of a whole run."""
        begun, expected = ffi.new("int64_t*"), ffi.new("int64_t*")
        check(lib.ember_session_progress(self._handle, begun, expected))
        return begun[0], expected[0]

    def profile(self) -> Profile:
        """Returns the times of dispatches since the session was made or profile_reset was called."""
        with self._lock:
            return read_profile(self._handle)

    def trace(self) -> list[TraceEvent]:
        """Returns the calls of dispatches, in order, of a session that was made with trace=True."""
        with self._lock:
            return read_trace(self._handle)

    def profile_reset(self) -> None:
        """Clears the profile and the trace."""
        with self._lock:
            check(lib.ember_session_profile_reset(self._handle))
