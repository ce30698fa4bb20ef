"""Dispatches: computations on tensors, from text.

>>> from ember import te
>>> softmax = te.parse("y[i, j] = exp(x[i, j]) / sum(k) exp(x[i, k])", x=("N", 3))
>>> print(softmax)
dispatch @y<N>(%x: f32[N, 3]) -> (%y: f32[N, 3]) {
  temp %y_sum: f32[N]
  %y_sum[i] = sum(k < 3) exp(%x[i, k])
  %y[i, j] = exp(%x[i, j]) / %y_sum[i]
}
>>> softmax.evaluate([[0, 0, 0]])
array([[0.33333334, 0.33333334, 0.33333334]], dtype=float32)
>>> te.parse("y[i] = x[i] + z[i]", x=(3,))
Traceback (most recent call last):
...
ember.errors.InvalidArgument: 1:15: expected a tensor that is declared, as in z: f32[4], or defined before, found 'z'
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Sequence

import numpy as np

from .. import arrays
from .._native import ffi, lib, owned, text
from ..element_types import BY_NAME, TYPES, ElementType, type_of_dtype
from ..errors import InvalidArgument
from .library import check, info, stoppable

_ROLES = ("input", "output", "temporary")
_DISPATCH_FORM = 1


@dataclass(frozen=True)
class Buffer:
    """A tensor of a dispatch. An extent that calls give is None in `shape`."""

    name: str
    role: str  # "input", "output", "temporary"
    type: ElementType
    shape: tuple[int | None, ...]

    @property
    def dtype(self) -> np.dtype:
        return self.type.dtype


class Call:
    """The buffers of a call in the form of the C API."""

    def __init__(self, dispatch: Dispatch, values: Sequence[Any], out: Any = None):
        if len(values) != len(dispatch.inputs):
            raise InvalidArgument(
                f"dispatch @{dispatch.name}: expected {len(dispatch.inputs)} inputs "
                f"({', '.join(b.name for b in dispatch.inputs)}), found {len(values)}"
            )
        self.inputs = [arrays.as_input(b.name, b.type, v) for b, v in zip(dispatch.inputs, values)]
        self._keep: list[Any] = []
        self.struct = info("EmberTeCall")
        tensors = ffi.new("EmberTensor[]", max(1, len(self.inputs)))
        for entry, buffer, array in zip(tensors, dispatch.inputs, self.inputs):
            dims = ffi.new("int64_t[]", array.shape or 1)
            entry.type, entry.rank, entry.dims = buffer.type.number, array.ndim, dims
            entry.data, entry.byte_size = _address(array), array.nbytes
            self._keep.append(dims)
        self.struct.inputs, self.struct.input_count = tensors, len(self.inputs)
        self.outputs = self._outputs(dispatch, out)
        storage = [array.view(b.type.storage) for b, array in zip(dispatch.outputs, self.outputs)]
        pointers = ffi.new("void*[]", [_address(array) for array in storage] or 1)
        sizes = ffi.new("size_t[]", [array.nbytes for array in storage] or 1)
        self.struct.outputs, self.struct.output_sizes = pointers, sizes
        self.struct.output_count = len(storage)
        self._keep += [tensors, pointers, sizes, storage]

    def _outputs(self, dispatch: Dispatch, out: Any) -> list[np.ndarray]:
        given = [None] * len(dispatch.outputs) if out is None else [out] if isinstance(out, np.ndarray) else list(out)
        if len(given) != len(dispatch.outputs):
            raise InvalidArgument(
                f"dispatch @{dispatch.name}: expected {len(dispatch.outputs)} results in out, found {len(given)}"
            )
        made = []
        for i, (buffer, array) in enumerate(zip(dispatch.outputs, given)):
            dims = ffi.new("int64_t[]", max(1, len(buffer.shape)))
            check(lib.te_dispatch_output_dims(dispatch.handle, self.struct, i, dims))
            shape = tuple(dims[k] for k in range(len(buffer.shape)))
            if array is None:
                array = np.zeros(shape, buffer.dtype)
            else:
                arrays.check_output(buffer.name, buffer.type, array)
                if array.shape != shape:
                    raise InvalidArgument(f"result '{buffer.name}': expected shape {shape}, found {array.shape}")
            made.append(array)
        return made

    @property
    def result(self) -> Any:
        """The result, or a tuple of them if there are several."""
        return self.outputs[0] if len(self.outputs) == 1 else tuple(self.outputs)


def _address(array: np.ndarray) -> Any:
    return ffi.cast("void*", array.ctypes.data)


class Dispatch:
    """A computation on tensors. print() shows its text; te.schedule gives it loops."""

    def __init__(self, handle: Any):
        self.handle = handle
        self.name: str = text(lib.te_dispatch_name(handle))
        buffers = []
        found = info("EmberTeBufferInfo")
        while lib.te_dispatch_buffer(handle, len(buffers), found) == 0:
            shape = tuple(None if found.dims[k] < 0 else found.dims[k] for k in range(found.rank))
            buffers.append(Buffer(text(found.name), _ROLES[found.role], TYPES[found.type], shape))
        self.inputs = tuple(b for b in buffers if b.role == "input")
        self.outputs = tuple(b for b in buffers if b.role == "output")
        self.temporaries = tuple(b for b in buffers if b.role == "temporary")

    def __str__(self) -> str:
        return text(lib.te_dispatch_text(self.handle)).rstrip("\n")

    def __repr__(self) -> str:
        return f"<ember.te.Dispatch @{self.name}>"

    def evaluate(self, *values: Any, out: Any = None, in_f64: bool = False) -> Any:
        """Computes the results with the scalar evaluator, which defines their meaning and is slow.

        in_f64: sums of f32 are accumulated in f64.
        """
        call = Call(self, values, out)
        with stoppable(call.struct):
            check(lib.te_dispatch_evaluate(self.handle, call.struct, int(in_f64)))
        return call.result

    def random_inputs(self, seed: int = 0) -> list[np.ndarray]:
        """Returns inputs with random elements: floats from -1 to 1, small integers, for fixed shapes."""
        generator = np.random.default_rng(seed)
        made = []
        for buffer in self.inputs:
            if any(extent is None for extent in buffer.shape):
                raise InvalidArgument(f"input {buffer.name}: expected an array, because calls give its extents")
            if np.issubdtype(buffer.type.storage, np.floating):
                made.append(generator.uniform(-1, 1, buffer.shape).astype(buffer.type.storage))
            elif buffer.type.extended is not None:
                raise InvalidArgument(f"input {buffer.name}: expected an array, because its type is {buffer.type.name}")
            elif buffer.type.name == "bool":
                made.append(generator.integers(0, 2, buffer.shape).astype(np.bool_))
            else:
                made.append(generator.integers(0, 4, buffer.shape).astype(buffer.type.storage))
        return made


def element_type(name: str, given: Any) -> ElementType:
    """Returns the element type of a name ("f32") or a NumPy dtype."""
    if isinstance(given, str) and given in BY_NAME:
        return BY_NAME[given]
    try:
        found = type_of_dtype(np.dtype(given))
    except TypeError:
        found = None
    if found is None:
        raise InvalidArgument(f"input {name}: expected a type such as f32 or a NumPy dtype, found {given!r}")
    return found


def _shape_and_type(name: str, given: Any) -> tuple[tuple[Any, ...], ElementType]:
    if hasattr(given, "shape") and hasattr(given, "dtype"):
        return tuple(given.shape), element_type(name, given.dtype)
    if isinstance(given, (tuple, list)):
        if len(given) == 2 and isinstance(given[0], (tuple, list)):
            return tuple(given[0]), element_type(name, given[1])
        return tuple(given), BY_NAME["f32"]
    raise InvalidArgument(
        f"input {name}: expected a shape such as (64, 'K'), a shape and a type, or an array, found {given!r}"
    )


def parse(source: str, /, name: str | None = None, **inputs: Any) -> Dispatch:
    """Makes a dispatch of a text: index notation, or the text of a dispatch.

    Inputs that the text does not declare are given by name: a shape (f32), a pair of shape and type, an array, or a
    te.tensor. An extent that is a text is given by calls; equal texts are equal extents. See tensor/notation/README.md
    for the notation.

    >>> from ember import te
    >>> te.parse("y[i] = table[n[i]]", table=(10,), n=((4,), "i32")).outputs[0].shape
    (4,)
    """
    if not isinstance(source, str):
        raise InvalidArgument(f"te.parse: expected a text, found {type(source).__name__}")
    data = source.encode("utf-8")
    options = info("EmberTeParseOptions")
    keep: list[Any] = [ffi.new("char[]", data)]
    options.text, options.text_size = keep[0], len(data)
    if source.lstrip().startswith("dispatch @"):
        options.form = _DISPATCH_FORM
    if name is not None:
        keep.append(ffi.new("char[]", name.encode("utf-8")))
        options.name = keep[-1]
    declared = ffi.new("EmberTeInput[]", max(1, len(inputs)))
    for entry, (key, given) in zip(declared, inputs.items()):
        shape, kind = _shape_and_type(key, given)
        dims = ffi.new("EmberTeDim[]", max(1, len(shape)))
        for dim, extent in zip(dims, shape):
            if isinstance(extent, str):
                keep.append(ffi.new("char[]", extent.encode("utf-8")))
                dim.name = keep[-1]
            elif isinstance(extent, (int, np.integer)):
                dim.extent = int(extent)
            else:
                raise InvalidArgument(f"input {key}: expected extents that are numbers or names, found {extent!r}")
        keep += [ffi.new("char[]", key.encode("utf-8")), dims]
        entry.name, entry.type, entry.rank, entry.dims = keep[-2], kind.number, len(shape), dims
    options.inputs, options.input_count = declared, len(inputs)
    handle = ffi.new("EmberTeDispatch**")
    check(lib.te_dispatch_parse(options, handle))
    return Dispatch(owned(handle[0], lib.te_dispatch_release))
