"""Write a kernel, see a schedule: tensor expressions, schedules, and the code that they become.

>>> from ember import te
>>> product = te.parse("y[i, j] = sum(k) a[i, k] * b[k, j]", a=(64, 128), b=(128, 32))
>>> s = te.schedule(product)
>>> jo, ji = s["y"].split("j", 16)
>>> s["y"].reorder(jo, "k", ji)
>>> s["y"].vectorize(ji)
>>> print(s)
schedule @y {
  split %y j 16 -> jo ji
  reorder %y jo k ji
  vectorize %y ji
}
>>> kernel = s.compile()
>>> import numpy as np
>>> a, b = np.ones((64, 128), np.float32), np.ones((128, 32), np.float32)
>>> kernel(a, b)[0, :3]
array([128., 128., 128.], dtype=float32)
>>> s.check(a, b)                       # compares with the scalar evaluator
0.0

The same product, written with operators:

>>> a, b = te.tensor("a", (64, 128)), te.tensor("b", (128, 32))
>>> i, j, k = te.axes("i j k")
>>> y = te.compute("y", (i, j), te.sum(k, a[i, k] * b[k, j]))
>>> str(te.dispatch(y)) == str(product)
True

A primitive that would change the result is refused, and the schedule stays as it was:

>>> s["y"].vectorize("k")
Traceback (most recent call last):
...
ember.errors.FailedPrecondition: vectorize %y k: loop 'ji' inside vector loop 'k' is a vector loop, too

The module is libember_jit.so, with libember_llvm.so for code of this machine. python/TE.md is a tutorial.
"""

from .dispatches import Buffer, Dispatch, parse
from .expressions import (
    Axis,
    Expression,
    Tensor,
    axes,
    axis,
    call,
    cast,
    compute,
    dispatch,
    max,
    maximum,
    min,
    minimum,
    pad,
    prod,
    select,
    sum,
    tensor,
    where,
)
from .kernels import Kernel, peak, time
from .primitives import Primitive, primitives
from .schedules import Dim, Loop, Schedule, Stage, dim, schedule

__all__ = [
    "Axis",
    "Buffer",
    "Dim",
    "Dispatch",
    "Expression",
    "Kernel",
    "Loop",
    "Primitive",
    "Schedule",
    "Stage",
    "Tensor",
    "axes",
    "axis",
    "call",
    "cast",
    "compute",
    "dim",
    "dispatch",
    "max",
    "maximum",
    "min",
    "minimum",
    "pad",
    "parse",
    "peak",
    "primitives",
    "prod",
    "schedule",
    "select",
    "sum",
    "tensor",
    "time",
    "where",
]
