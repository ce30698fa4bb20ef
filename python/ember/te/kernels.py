"""Kernels: compiled schedules. A kernel for this machine is called with arrays.

>>> from ember import te
>>> s = te.schedule(te.parse("y[i] = 2 * x[i]", x=("N",)))
>>> kernel = s.compile()
>>> kernel([1, 2, 3])
array([2., 4., 6.], dtype=float32)
>>> kernel.time([1.0] * 100) > 0
True
>>> list(s.compile("c11").code)
['.c']
"""

from __future__ import annotations

from typing import Any, Sequence

from .._native import ffi, lib, owned, text
from .dispatches import Call
from .library import check, info, stoppable
from .schedules import Schedule


class Kernel:
    """The code that a schedule makes. kernel(a, b) runs it, if it is for this machine."""

    def __init__(self, schedule: Schedule, target: str | None = None, threads: int = 1):
        self.dispatch = schedule.dispatch
        self.schedule = str(schedule)
        options = info("EmberTeCompileOptions")
        name = ffi.NULL if target is None else ffi.new("char[]", target.encode("utf-8"))
        options.target, options.threads = name, threads
        handle = ffi.new("EmberTeKernel**")
        check(lib.te_kernel_compile(schedule.handle, options, handle))
        self.handle = owned(handle[0], lib.te_kernel_release)
        self.target: str = text(lib.te_kernel_target(self.handle))

    def __repr__(self) -> str:
        return f"<ember.te.Kernel @{self.dispatch.name} for {self.target}>"

    def __call__(self, *values: Any, out: Any = None) -> Any:
        """Runs the kernel and returns its result, or a tuple of them. Arrays of the right type are not copied.

        out: an array for the result, or a list of them.
        """
        call = Call(self.dispatch, values, out)
        with stoppable(call.struct):
            check(lib.te_kernel_run(self.handle, call.struct))
        return call.result

    @property
    def code(self) -> dict[str, str]:
        """The code in its forms, by their extension: ".ll" and ".s"; ".ptx"; ".spvasm"; ".c"."""
        found: dict[str, str] = {}
        extension, code = ffi.new("char**"), ffi.new("char**")
        while (
            lib.te_kernel_code(
                self.handle, len(found), ffi.cast("const char**", extension), ffi.cast("const char**", code)
            )
            == 0
        ):
            found[text(extension[0])] = text(code[0])
        return found

    @property
    def assembly(self) -> str:
        """The last form of the code: assembly, PTX, SPIR-V as text, or C."""
        return list(self.code.values())[-1]

    def time(self, *values: Any, against: Sequence[Kernel] = (), seconds: float = 1.0) -> Any:
        """Returns the median time of a call in nanoseconds.

        Without arrays the inputs are random. against: kernels of the same inputs, whose calls alternate with those of
        this one; the result is then a list of times.
        """
        median, _ = time([self, *against], *values, seconds=seconds)
        return median if against else median[0]


def time(kernels: Sequence[Kernel], *values: Any, seconds: float = 1.0) -> tuple[list[float], list[float]]:
    """Measures kernels of the same inputs, one call of each after the other.

    Returns the medians and the least times of a call, in nanoseconds. Without arrays the inputs are random.
    """
    inputs = list(values) if values or not kernels else kernels[0].dispatch.random_inputs()
    calls = [Call(kernel.dispatch, inputs) for kernel in kernels]
    count = len(kernels)
    options = info("EmberTeTimeOptions")
    options.seconds = seconds
    median, least = ffi.new("double[]", max(1, count)), ffi.new("double[]", max(1, count))
    handles = ffi.new("EmberTeKernel*[]", [k.handle for k in kernels] or 1)
    structs = ffi.new("EmberTeCall*[]", [c.struct for c in calls] or 1)
    with stoppable(*(c.struct for c in calls)):
        check(
            lib.te_kernels_time(
                ffi.cast("const EmberTeKernel* const*", handles),
                ffi.cast("const EmberTeCall* const*", structs),
                count,
                options,
                median,
                least,
            )
        )
    return list(median[0:count]), list(least[0:count])


def peak(threads: int = 1, seconds: float = 0.2) -> float:
    """Measures the largest rate of f32 multiply-adds of this machine, in 10^9 operations per second."""
    found = ffi.new("double*")
    check(lib.te_machine_peak(threads, seconds, found))
    return found[0]
