"""Builds an ONNX model by formulas over values.

>>> from ember.estimators.graph import Graph
>>> graph = Graph()
>>> x = graph.input("x", "float32", ("rows", 2))
>>> graph.output("y", x @ [[1.0], [2.0]] + 3)
>>> import ember
>>> ember.compile(graph.to_bytes("sample"))([[1, 1], [0, 5]])
array([[ 6.],
       [13.]], dtype=float32)
"""

from __future__ import annotations

from typing import Any, Sequence

import numpy as np

from . import protobuf

INT = np.dtype(np.int64)
BOOL = np.dtype(np.bool_)
STRING = np.dtype(object)
ML = "ai.onnx.ml"


class Graph:
    """A model that is being built."""

    def __init__(self) -> None:
        self._nodes: list[bytes] = []
        self._initializers: list[bytes] = []
        self._inputs: list[bytes] = []
        self._outputs: list[bytes] = []
        self._count = 0

    def _name(self) -> str:
        self._count += 1
        return f"v{self._count}"

    def input(self, name: str, dtype: Any, dims: Sequence[int | str]) -> Value:
        """Adds an input of the model."""
        found = np.dtype(dtype)
        self._inputs.append(protobuf.value_info(name, found, dims))
        return Value(self, name, found)

    def output(self, name: str, value: Value) -> None:
        """Adds a result of the model."""
        self._nodes.append(protobuf.node("Identity", "", [value.name], [name], {}))
        self._outputs.append(protobuf.value_info(name, value.dtype, None))

    def constant(self, array: Any, dtype: Any = None) -> Value:
        """Adds a constant."""
        made = np.asarray(array, dtype)
        if made.dtype.kind in "US":
            made = made.astype(object)
        name = self._name()
        self._initializers.append(protobuf.tensor(name, made))
        return Value(self, name, made.dtype)

    def node(
        self, operator: str, inputs: Sequence[Value], *, dtype: Any = None, domain: str = "", **attributes: Any
    ) -> Value:
        """Adds a node with one result, whose element type is that of the first input if none is given."""
        found = inputs[0].dtype if dtype is None else dtype
        return self.nodes(operator, inputs, [found], domain=domain, **attributes)[0]

    def nodes(
        self, operator: str, inputs: Sequence[Value], dtypes: Sequence[Any], *, domain: str = "", **attributes: Any
    ) -> list[Value]:
        """Adds a node with a result for each of the element types."""
        names = [self._name() for _ in dtypes]
        self._nodes.append(protobuf.node(operator, domain, [v.name for v in inputs], names, attributes))
        return [Value(self, n, np.dtype(d)) for n, d in zip(names, dtypes)]

    def to_bytes(self, name: str) -> bytes:
        """Returns the model."""
        return protobuf.model(name, self._nodes, self._initializers, self._inputs, self._outputs)


class Value:
    """A tensor of a graph. Numbers and arrays in formulas become constants of the same element type."""

    __slots__ = ("graph", "name", "dtype")
    # Makes NumPy leave `array + value` to this class's reflected operators instead of applying
    # itself to each element.
    __array_ufunc__ = None

    def __init__(self, graph: Graph, name: str, dtype: np.dtype):
        self.graph, self.name, self.dtype = graph, name, dtype

    def like(self, value: Any) -> Value:
        """Returns the value, or a constant of this element type."""
        return value if isinstance(value, Value) else self.graph.constant(value, self.dtype)

    def _binary(self, operator: str, other: Any, dtype: Any = None) -> Value:
        return self.graph.node(operator, [self, self.like(other)], dtype=dtype)

    def __add__(self, other: Any) -> Value:
        return self._binary("Add", other)

    def __sub__(self, other: Any) -> Value:
        return self._binary("Sub", other)

    def __mul__(self, other: Any) -> Value:
        return self._binary("Mul", other)

    def __truediv__(self, other: Any) -> Value:
        return self._binary("Div", other)

    def __matmul__(self, other: Any) -> Value:
        return self._binary("MatMul", other)

    def __neg__(self) -> Value:
        return self.apply("Neg")

    def __rsub__(self, other: Any) -> Value:
        return self.like(other) - self

    def __rtruediv__(self, other: Any) -> Value:
        return self.like(other) / self

    __radd__ = __add__
    __rmul__ = __mul__

    def greater(self, other: Any) -> Value:
        return self._binary("Greater", other, BOOL)

    def less(self, other: Any) -> Value:
        return self._binary("Less", other, BOOL)

    def equal(self, other: Any) -> Value:
        return self._binary("Equal", other, BOOL)

    def maximum(self, other: Any) -> Value:
        return self._binary("Max", other)

    def minimum(self, other: Any) -> Value:
        return self._binary("Min", other)

    def power(self, other: Any) -> Value:
        return self._binary("Pow", other)

    def apply(self, operator: str, **attributes: Any) -> Value:
        """Returns the result of an operator with this operand: x.apply("Relu")."""
        return self.graph.node(operator, [self], **attributes)

    def cast(self, dtype: Any) -> Value:
        found = np.dtype(dtype)
        if found == self.dtype:
            return self
        return self.graph.node("Cast", [self], dtype=found, to=protobuf.ELEMENT_TYPES[found])

    def where(self, yes: Any, no: Any) -> Value:
        """Returns `yes` where this condition is true and `no` elsewhere. One of them is a Value."""
        one = yes if isinstance(yes, Value) else no
        return self.graph.node("Where", [self, one.like(yes), one.like(no)], dtype=one.dtype)

    def reduce(self, operator: str, axis: int, keep: bool = False) -> Value:
        """Reduces an axis: x.reduce("Sum", 1)."""
        axes = self.graph.constant([axis], INT)
        return self.graph.node("Reduce" + operator, [self, axes], keepdims=int(keep))

    def argmax(self, axis: int = 1) -> Value:
        """Returns the index of the first largest element, i64."""
        return self.graph.node("ArgMax", [self], dtype=INT, axis=axis, keepdims=0)

    def argmin(self, axis: int = 1) -> Value:
        return self.graph.node("ArgMin", [self], dtype=INT, axis=axis, keepdims=0)

    def softmax(self) -> Value:
        return self.apply("Softmax", axis=1)

    def reshape(self, dims: Sequence[int]) -> Value:
        return self.graph.node("Reshape", [self, self.graph.constant(dims, INT)])

    def unsqueeze(self, axis: int) -> Value:
        return self.graph.node("Unsqueeze", [self, self.graph.constant([axis], INT)])

    def squeeze(self, axis: int) -> Value:
        return self.graph.node("Squeeze", [self, self.graph.constant([axis], INT)])

    def take(self, indices: Any, axis: int) -> Value:
        """Returns the elements at these indices of an axis."""
        chosen = indices if isinstance(indices, Value) else self.graph.constant(indices, INT)
        return self.graph.node("Gather", [self, chosen], axis=axis)

    def concat(self, others: Sequence[Value], axis: int = 1) -> Value:
        return self.graph.node("Concat", [self, *others], axis=axis) if others else self


def concat(values: Sequence[Value], axis: int = 1) -> Value:
    """Joins values along an axis."""
    return values[0].concat(values[1:], axis)
