"""Schedules: the steps that make loops of a dispatch's stages.

>>> from ember import te
>>> x = te.tensor("x", (64, 64))
>>> y = te.compute("y", lambda i, j: 2 * x[i, j])
>>> s = te.schedule(y)
>>> s[y].loops
[<loop i of %y: 64, serial>, <loop j of %y: 64, serial>]
>>> io, jo, ii, ji = s[y].tile("i", "j", 4, 16)
>>> s[y].vectorize(ji)
>>> s[y].unroll(ii)
>>> [loop.mark for loop in s[y].loops]
['serial', 'serial', 'unrolled', 'vector']
>>> s[y].unroll("k")
Traceback (most recent call last):
...
ember.errors.InvalidArgument: unroll %y k: expected a loop of %y, found 'k'

Each primitive of the library is a method of stages (te.primitives() lists them). A step that would change the result,
or that makes no sense, raises an exception with the reason, and the schedule stays as it was. A notebook shows a
schedule's loops beside its steps, and the step that was refused last.
"""

from __future__ import annotations

from typing import Any, Sequence

import numpy as np

from .._native import ffi, lib, owned, text
from ..errors import Error, InvalidArgument, NotFound
from . import drawings, expressions
from .dispatches import Buffer, Dispatch
from .expressions import Tensor
from .library import check, info
from .stage_primitives import StagePrimitives


class Digit:
    """A digit of a loop: k // 4, k % 8, (k // 4) % 8."""

    def __init__(self, text: str):
        self._text = text

    def __str__(self) -> str:
        return self._text

    def __mod__(self, number: int) -> Digit:
        return Digit(f"{self._text}%{number}")


class Dim:
    """A dim of a buffer in the layout of a copy: te.dim(1) // 32, te.dim(1) % 32."""

    def __init__(self, text: str):
        self._text = text

    def __str__(self) -> str:
        return self._text

    def __floordiv__(self, number: int) -> Dim:
        return Dim(f"{self._text}/{number}")

    def __mod__(self, number: int) -> Dim:
        return Dim(f"{self._text}%{number}")


def dim(number: int) -> Dim:
    """Returns a dim of a buffer, counted from 0, for Stage.pack."""
    return Dim(str(number))


class Loop:
    """A loop of a stage. It is known by its name, which later steps may remove."""

    def __init__(self, stage: Stage, name: str, extent: int | None, mark: str, is_reduction: bool):
        self.stage, self.name, self.extent, self.mark, self.is_reduction = stage, name, extent, mark, is_reduction

    def __repr__(self) -> str:
        extent = "an extent of the call" if self.extent is None else self.extent
        return f"<loop {self.name} of %{self.stage.name}: {extent}, {self.mark}>"

    def __str__(self) -> str:
        return self.name

    def __floordiv__(self, number: int) -> Digit:
        return Digit(f"{self.name}/{number}")

    def __mod__(self, number: int) -> Digit:
        return Digit(f"{self.name}%{number}")


class Stage(StagePrimitives):
    """A stage of a schedule: one tensor expression with its loops. Its methods are the primitives."""

    def __init__(self, schedule: Schedule, name: str):
        self.schedule, self.name = schedule, name

    def __repr__(self) -> str:
        return f"<stage %{self.name}: {' '.join(loop.name for loop in self.loops)}>"

    @property
    def _index(self) -> int:
        for i, found in enumerate(self.schedule._stage_infos()):
            if text(found.name) == self.name:
                return i
        raise NotFound(f"stage %{self.name}: expected one of {self.schedule._stage_names()}, found none")

    @property
    def loops(self) -> list[Loop]:
        """The loops as they are now, outermost first."""
        index, made = self._index, []
        found = info("EmberTeLoopInfo")
        while lib.te_schedule_loop(self.schedule.handle, index, len(made), found) == 0:
            extent = None if found.extent < 0 else found.extent
            made.append(Loop(self, text(found.name), extent, text(found.mark), bool(found.is_reduction)))
        return made

    @property
    def attached(self) -> Loop | None:
        """The loop inside which the stage is computed, or None."""
        found = self.schedule._stage_infos()[self._index]
        stage, loop = text(found.attached_stage), text(found.attached_loop)
        return Stage(self.schedule, stage)[loop] if stage else None

    def __getitem__(self, name: Any) -> Loop:
        wanted = name if isinstance(name, str) else name.name
        for loop in self.loops:
            if loop.name == wanted:
                return loop
        names = ", ".join(loop.name for loop in self.loops)
        raise NotFound(f"stage %{self.name}: expected one of its loops ({names}), found '{wanted}'")


class Schedule:
    """The steps that make loops of a dispatch. print() shows them; nest() shows the loops."""

    def __init__(self, dispatch: Dispatch, handle: Any):
        self.dispatch = dispatch
        self.handle = owned(handle, lib.te_schedule_release)
        self._refusal: drawings.Refusal | None = None  # the refused step and its reason, if the last step was refused

    def __str__(self) -> str:
        return text(lib.te_schedule_text(self.handle)).rstrip("\n")

    def __repr__(self) -> str:
        return f"<ember.te.Schedule of @{self.dispatch.name}: {len(self.steps)} steps>"

    def _repr_html_(self) -> str:
        return drawings.html(self, self._refusal)

    @property
    def steps(self) -> list[str]:
        """The lines of the steps."""
        return [line.strip() for line in str(self).splitlines()[1:-1]]

    def _stage_infos(self) -> list[Any]:
        made: list[Any] = []
        while True:
            found = info("EmberTeStageInfo")
            if lib.te_schedule_stage(self.handle, len(made), found) != 0:
                return made
            made.append(found)

    def _stage_names(self) -> str:
        return ", ".join("%" + text(i.name) for i in self._stage_infos())

    @property
    def stages(self) -> list[Stage]:
        """The stages as they are now, in the order in which they run."""
        return [Stage(self, text(i.name)) for i in self._stage_infos()]

    def __getitem__(self, stage: str | Tensor | Buffer | Stage) -> Stage:
        name = (stage if isinstance(stage, str) else stage.name).removeprefix("%")
        made = Stage(self, name)
        made._index  # raises NotFound
        return made

    def apply(self, line: str) -> None:
        """Applies a step that is written as text, such as "split %y i 16 -> io ii"."""
        try:
            check(lib.te_schedule_apply(self.handle, line.encode("utf-8")))
        except Error as error:
            self._refusal = drawings.Refusal(line, str(error).removeprefix(f"{line}: "))
            error.drawing = "The schedule stays as it was:\n\n" + drawings.text(self, self._refusal)
            raise
        self._refusal = None

    def replay(self, steps: str) -> None:
        """Applies the steps of another schedule's text. Stops at the first error, which names the line."""
        check(lib.te_schedule_replay(self.handle, steps.encode("utf-8")))

    def copy(self) -> Schedule:
        """Returns a schedule with the same steps."""
        handle = ffi.new("EmberTeSchedule**")
        check(lib.te_schedule_copy(self.handle, handle))
        return Schedule(self.dispatch, handle[0])

    def nest(self) -> str:
        """Returns the loop nest that the schedule makes of the dispatch, as text."""
        found = ffi.new("char**")
        check(lib.te_schedule_nest(self.handle, ffi.cast("const char**", found)))
        return text(found[0]).rstrip("\n")

    def compile(self, target: str | None = None, threads: int = 1) -> Any:
        """Compiles the schedule and returns a te.Kernel.

        target: None for this machine. A kernel for another one ("c11", "vulkan1.3+subgroup32+shared49152",
        "sm_90a+subgroup32+shared232448") cannot run, but its code can be read. threads: how many threads run the
        parallel loops.
        """
        from .kernels import Kernel

        return Kernel(self, target, threads)

    def check(self, *values: Any, seed: int = 0) -> float:
        """Compiles the schedule, and compares its results with those of the scalar evaluator.

        Returns the largest difference, relative to the largest result. Raises ember.Internal if it is larger than the
        order of sums can explain. Without arrays the inputs are random. The evaluator is slow: use small shapes.
        """
        inputs = list(values) if values else self.dispatch.random_inputs(seed)
        found = self.compile()(*inputs)
        wanted = self.dispatch.evaluate(*inputs, in_f64=True)
        if len(self.dispatch.outputs) == 1:
            found, wanted = (found,), (wanted,)
        worst = 0.0
        for buffer, a, b in zip(self.dispatch.outputs, found, wanted):
            error = _difference(np.asarray(a), np.asarray(b))
            if error > _tolerance(buffer):
                raise Error(
                    f"dispatch @{self.dispatch.name}: result {buffer.name}: expected at most "
                    f"{_tolerance(buffer):.1g} of difference from the evaluator, found {error:.3g}"
                )
            worst = max(worst, error)
        return worst


# Largest difference from the evaluator that check() accepts, relative to the largest result: a
# schedule may sum in another order.
_TOLERANCES = {"f64": 1e-12, "f32": 1e-5, "f16": 1e-2, "bf16": 5e-2, "f8e4m3fn": 0.2, "f8e5m2": 0.3}


def _tolerance(buffer: Buffer) -> float:
    return _TOLERANCES.get(buffer.type.name, 0.0)


def _difference(found: np.ndarray, wanted: np.ndarray) -> float:
    a, b = found.astype(np.float64), wanted.astype(np.float64)
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    if same.all():
        return 0.0
    if not (np.isfinite(a[~same]).all() and np.isfinite(b[~same]).all()):
        return float("inf")
    scale = np.abs(b[np.isfinite(b)]).max(initial=0.0)
    return float(np.abs(a - b)[~same].max() / (scale or 1.0))


def schedule(computed: Dispatch | Tensor | Sequence[Tensor], target: str | None = None) -> Schedule:
    """Returns a schedule of a dispatch, or of results of te.compute.

    Without a target it has no steps: each stage is a nest of loops over its axes, as they are written. With a target
    ("host", "x86-64-v4", "vulkan1.3+subgroup32", ...) it has the steps that the JIT chooses for it; the JIT may have
    joined axes before that.
    """
    if isinstance(computed, Tensor):
        computed = expressions.dispatch(computed)
    elif not isinstance(computed, Dispatch):
        computed = expressions.dispatch(*computed)
    if not isinstance(computed, Dispatch):
        raise InvalidArgument(f"te.schedule: expected a dispatch or tensors, found {computed!r}")
    handle = ffi.new("EmberTeSchedule**")
    name = ffi.NULL if target is None else ffi.new("char[]", target.encode("utf-8"))
    check(lib.te_schedule_create(computed.handle, name, handle))
    return Schedule(computed, handle[0])
