"""Tensor expressions with Python's operators. They become the text of te.parse, which print() shows.

>>> from ember import te
>>> x, n = te.tensor("x", ("N", 3)), te.tensor("n", (5,), "i32")
>>> i, j, k = te.axes("i j k")
>>> rows = te.compute("rows", (i, j), x[n[i], j] / te.sum(k, x[n[i], k]))
>>> y = te.compute("y", (i, j), te.where(rows[i, j] < 0.5, te.call("exp", rows[i, j]), -1.0))
>>> print(te.dispatch(y, rows))
dispatch @rows<N>(%x: f32[N, 3], %n: i32[5]) -> (%rows: f32[5, 3], %y: f32[5, 3]) {
  temp %rows_sum: f32[5]
  %rows_sum[i] = sum(k < 3) %x[i64(%n[i]), k]
  %rows[i, j] = %x[i64(%n[i]), j] / %rows_sum[i]
  %y[i, j] = select(%rows[i, j] < 0.5, exp(%rows[i, j]), -1.0)
}
"""

from __future__ import annotations

import inspect
import math
from typing import Any, Callable, Iterable, Sequence

import numpy as np

from ..element_types import BY_NAME
from ..errors import InvalidArgument
from .dispatches import Dispatch, element_type, parse

# Precedence levels of operators, as in the grammar of the notation.
_COMPARE, _SUM, _PRODUCT, _PRIMARY = 1, 2, 3, 4


class Expression:
    """A number for each point of the axes in it. str() gives its text."""

    def __init__(self, text: str, level: int = _PRIMARY, tensors: Iterable[Tensor] = ()):
        self._text, self._level = text, level
        self._tensors = tuple(dict.fromkeys(tensors))

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"<ember.te.Expression {self._text}>"

    def _at(self, level: int) -> str:
        """Returns the text, in parentheses if it binds less tightly than `level`."""
        return self._text if self._level >= level else f"({self._text})"

    __hash__ = object.__hash__

    def __bool__(self) -> bool:
        raise InvalidArgument(f"{self._text}: expected te.where for a choice, found a test of an expression in Python")

    def __add__(self, other: Any) -> Expression:
        return _infix("+", _SUM, self, other)

    def __radd__(self, other: Any) -> Expression:
        return _infix("+", _SUM, other, self)

    def __sub__(self, other: Any) -> Expression:
        return _infix("-", _SUM, self, other)

    def __rsub__(self, other: Any) -> Expression:
        return _infix("-", _SUM, other, self)

    def __mul__(self, other: Any) -> Expression:
        return _infix("*", _PRODUCT, self, other)

    def __rmul__(self, other: Any) -> Expression:
        return _infix("*", _PRODUCT, other, self)

    def __truediv__(self, other: Any) -> Expression:
        return _infix("/", _PRODUCT, self, other)

    def __rtruediv__(self, other: Any) -> Expression:
        return _infix("/", _PRODUCT, other, self)

    def __floordiv__(self, other: Any) -> Expression:
        return call("floordiv", self, other)

    def __rfloordiv__(self, other: Any) -> Expression:
        return call("floordiv", other, self)

    def __mod__(self, other: Any) -> Expression:
        return call("mod", self, other)

    def __rmod__(self, other: Any) -> Expression:
        return call("mod", other, self)

    def __pow__(self, other: Any) -> Expression:
        return call("pow", self, other)

    def __and__(self, other: Any) -> Expression:
        return call("and", self, other)

    def __or__(self, other: Any) -> Expression:
        return call("or", self, other)

    def __xor__(self, other: Any) -> Expression:
        return call("xor", self, other)

    def __invert__(self) -> Expression:
        return call("not", self)

    def __abs__(self) -> Expression:
        return call("abs", self)

    def __neg__(self) -> Expression:
        return call("neg", self)

    def __lt__(self, other: Any) -> Expression:
        return _infix("<", _COMPARE, self, other)

    def __le__(self, other: Any) -> Expression:
        return _infix("<=", _COMPARE, self, other)

    def __gt__(self, other: Any) -> Expression:
        return _infix("<", _COMPARE, other, self)

    def __ge__(self, other: Any) -> Expression:
        return _infix("<=", _COMPARE, other, self)

    def __eq__(self, other: Any) -> Expression:  # type: ignore[override]
        return _infix("==", _COMPARE, self, other)

    def __ne__(self, other: Any) -> Expression:  # type: ignore[override]
        return _infix("!=", _COMPARE, self, other)

    def cast(self, dtype: Any) -> Expression:
        """Converts to another type, such as "f16"."""
        return cast(self, dtype)


class Axis(Expression):
    """A variable that counts from 0. Without an extent, the dims that it indexes give it."""

    def __init__(self, name: str, extent: int | str | None = None):
        super().__init__(name)
        self.name, self.extent = name, extent

    @property
    def declared(self) -> str:
        return self.name if self.extent is None else f"{self.name} < {self.extent}"


class _Element(Expression):
    """An element of a tensor."""


class _Reduction(Expression):
    """A reduction. It takes the whole product behind it, so that it is never a left operand without parentheses."""


class Tensor:
    """A tensor: an input, or the result of te.compute. tensor[i, j] is an element."""

    def __init__(
        self,
        name: str,
        shape: Sequence[Any] | None,
        dtype: Any = "f32",
        statement: str = "",
        reads: Sequence[Tensor] = (),
    ):
        self.name, self.statement = name, statement
        self.shape = None if shape is None else tuple(shape)
        self.dtype = element_type(name, dtype).dtype
        self.type = element_type(name, dtype)
        self._reads = tuple(reads)

    def __getitem__(self, indices: Any) -> Expression:
        given = indices if isinstance(indices, tuple) else (indices,)
        made = [_expression(i) for i in given]
        return _Element(f"{self.name}[{', '.join(str(i) for i in made)}]", _PRIMARY, (self, *_tensors(made)))

    def __repr__(self) -> str:
        return f"<ember.te.Tensor {self.statement or self.declaration}>"

    @property
    def declaration(self) -> str:
        return f"{self.name}: {self.type.name}[{', '.join(str(d) for d in self.shape or ())}]"


def tensor(name: str, shape: Sequence[int | str], dtype: Any = "f32") -> Tensor:
    """Declares an input. An extent that is a name, such as "N", is given by calls."""
    return Tensor(name, tuple(shape), dtype)


def axis(name: str, extent: int | str | None = None) -> Axis:
    """Makes an axis. extent: a number or the name of an extent of an input; None: it is inferred."""
    return Axis(name, extent)


def axes(names: str) -> tuple[Axis, ...]:
    """Makes axes without extents: i, j, k = te.axes("i j k")."""
    return tuple(Axis(name) for name in names.split())


def compute(name: str, indices: Sequence[Axis] | Callable[..., Any], value: Any = None) -> Tensor:
    """Defines a tensor: its elements at the axes `indices` are `value`. Axes and value may be one function.

    >>> from ember import te
    >>> x = te.tensor("x", (4,))
    >>> te.compute("y", lambda i: 2 * x[i])
    <ember.te.Tensor y[i] = 2 * x[i]>
    """
    if callable(indices):
        made = tuple(Axis(p) for p in inspect.signature(indices).parameters)
        indices, value = made, indices(*made)
    for found in indices:
        if not isinstance(found, Axis):
            raise InvalidArgument(f"te.compute: {name}: expected axes as indices, found {found!r}")
    expression = _expression(value)
    left = ", ".join(a.declared for a in indices)
    return Tensor(name, None, "f32", f"{name}[{left}] = {expression}", expression._tensors)


def dispatch(*results: Tensor, name: str | None = None) -> Dispatch:
    """Makes a dispatch of the tensors and of all tensors that they read."""
    inputs, statements, seen = [], [], set()
    known: dict[str, Tensor] = {}

    def add(found: Tensor) -> None:
        if id(found) in seen:
            return
        seen.add(id(found))
        if known.setdefault(found.name, found) is not found:
            raise InvalidArgument(f"te.dispatch: expected tensors of different names, found {found.name} twice")
        for read in found._reads:
            add(read)
        if found.statement:
            statements.append(found.statement)
        else:
            inputs.append(found.declaration)

    for result in results:
        if not isinstance(result, Tensor) or not result.statement:
            raise InvalidArgument(f"te.dispatch: expected results of te.compute, found {result!r}")
        add(result)
    source = "\n".join(inputs + statements) + "\n-> " + ", ".join(r.name for r in results)
    return parse(source, name)


# --- operators -----------------------------------------------------------------
def _tensors(expressions: Iterable[Expression]) -> tuple[Tensor, ...]:
    return tuple(t for e in expressions for t in e._tensors)


def _expression(value: Any) -> Expression:
    if isinstance(value, Expression):
        return value
    if isinstance(value, Tensor):
        raise InvalidArgument(f"{value.name}: expected an element, as in {value.name}[i], found a tensor")
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool):
        return Expression("true" if value else "false")
    if isinstance(value, int):
        return Expression(str(value))
    if isinstance(value, float):
        if math.isnan(value):
            return Expression("nan")
        if math.isinf(value):
            return Expression("inf" if value > 0 else "-inf")
        return Expression(repr(value))
    raise InvalidArgument(f"expected an expression or a number, found {type(value).__name__}")


def _infix(sign: str, level: int, left: Any, right: Any) -> Expression:
    a, b = _expression(left), _expression(right)
    # A reduction as the left operand needs parentheses, because its body extends as far to the
    # right as possible. So does a comparison to the left of another one, because comparisons do not
    # associate.
    before = f"({a})" if isinstance(a, _Reduction) else a._at(level + (level == _COMPARE))
    return Expression(f"{before} {sign} {b._at(level + 1)}", level, _tensors((a, b)))


def call(instruction: str, *operands: Any) -> Expression:
    """Applies an instruction by its name: te.call("exp", x[i]). tensor/GRAMMAR.md names the instructions."""
    made = [_expression(o) for o in operands]
    return Expression(f"{instruction}({', '.join(str(o) for o in made)})", _PRIMARY, _tensors(made))


def cast(value: Any, dtype: Any) -> Expression:
    """Converts a value to another type, such as "f16"."""
    return call(BY_NAME[dtype].name if dtype in BY_NAME else element_type("cast", dtype).name, value)


def select(condition: Any, value: Any, otherwise: Any) -> Expression:
    """Returns `value` where the condition is true, else `otherwise`. Both are computed."""
    return call("select", condition, value, otherwise)


where = select


def maximum(a: Any, b: Any) -> Expression:
    """The larger of two values."""
    return call("max", a, b)


def minimum(a: Any, b: Any) -> Expression:
    """The smaller of two values."""
    return call("min", a, b)


def pad(element: Expression, otherwise: Any = None) -> Expression:
    """Returns an element, or `otherwise` (0) where its index is outside of the tensor."""
    if not isinstance(element, _Element):
        raise InvalidArgument(f"te.pad: expected an element, as in x[i - 1], found {element!r}")
    return call("pad", element, *([] if otherwise is None else [otherwise]))


def _reduce(combiner: str, over: Axis | Sequence[Axis], value: Any) -> Expression:
    given = (over,) if isinstance(over, Axis) else tuple(over)
    if not given or not all(isinstance(a, Axis) for a in given):
        raise InvalidArgument(f"te.{combiner}: expected an axis or axes, found {over!r}")
    body = _expression(value)
    inner = f"({body})" if isinstance(body, _Reduction) else body._at(_PRODUCT)
    declared = ", ".join(a.declared for a in given)
    return _Reduction(f"{combiner}({declared}) {inner}", _PRODUCT, body._tensors)


def sum(over: Axis | Sequence[Axis], value: Any) -> Expression:  # noqa: A001
    """Adds up the value over an axis, or over several."""
    return _reduce("sum", over, value)


def prod(over: Axis | Sequence[Axis], value: Any) -> Expression:
    """Multiplies the values over axes."""
    return _reduce("prod", over, value)


def max(over: Axis | Sequence[Axis], value: Any) -> Expression:  # noqa: A001
    """The largest value over axes. te.maximum is the larger of two values."""
    return _reduce("maximum", over, value)


def min(over: Axis | Sequence[Axis], value: Any) -> Expression:  # noqa: A001
    """The smallest value over axes. te.minimum is the smaller of two values."""
    return _reduce("minimum", over, value)
