"""Inputs and results in memory that is checked once, for calls that must be as short as possible.

>>> import ember, numpy as np
>>> module = ember.compile(b'''
... module @double {
...   func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
...     %0 = stablehlo.add %x, %x : tensor<3xf32>
...     return %0 : tensor<3xf32>
...   }
... }
... ''')
>>> x, y = np.zeros(3, np.float32), np.empty(3, np.float32)
>>> run = module.session().bind([x], [y])
>>> x[:] = 1, 2, 3
>>> run()
>>> y
array([2., 4., 6.], dtype=float32)
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Sequence

import numpy as np

from . import _native
from ._native import ffi, lib
from .arrays import check_output
from .element_types import ElementType
from .errors import InvalidArgument
from .module import TensorInfo

if TYPE_CHECKING:
    from .runner import Runner

_get_ident = threading.get_ident
_run = lib.ember_python_run


class Binding:
    """Runs a session on the same arrays at each call. The arrays are read and written in place, never copied.

    Session.bind makes bindings. A session may have several; runs of one session do not overlap.
    """

    def __init__(self, session: Runner, inputs: Sequence[np.ndarray], outputs: Sequence[np.ndarray]):
        module = session.module
        for what, given, infos in (("inputs", inputs, module.inputs), ("outputs", outputs, module.outputs)):
            if len(given) != len(infos):
                raise InvalidArgument(f"bind: expected {len(infos)} {what}, found {len(given)}")
        self.inputs, self.outputs = tuple(inputs), tuple(outputs)
        self._session, self._handle, self._lock = session, session._handle, session._lock
        self._keep: list[Any] = []
        self._tensors = ffi.new("EmberTensor[]", max(1, len(inputs)))
        self._places = ffi.new("void*[]", max(1, len(outputs)))
        self._sizes = ffi.new("size_t[]", max(1, len(outputs)))
        for tensor, info, array in zip(self._tensors, module.inputs, inputs):
            storage = _storage(info, info.element_type, array)
            dims, data = ffi.new("int64_t[]", list(storage.shape) or 1), ffi.from_buffer(storage)
            self._keep += [dims, data]
            tensor.type, tensor.rank, tensor.dims = info.element_type.number, storage.ndim, dims
            tensor.data, tensor.byte_size = data, storage.nbytes
        shapes = module.result_shapes(*(array.shape for array in inputs))
        for i, (info, array) in enumerate(zip(module.outputs, outputs)):
            if info.is_string or None in shapes[i]:
                raise InvalidArgument(f"bind: result '{info.name}': expected one whose size does not depend on data")
            storage = check_output(info.name, info.element_type, array)
            if storage.shape != shapes[i]:
                raise InvalidArgument(f"result '{info.name}': expected shape {shapes[i]}, found {storage.shape}")
            data = ffi.from_buffer("char[]", storage, True)
            self._keep.append(data)
            self._places[i], self._sizes[i] = data, storage.nbytes
        self._arguments = (
            self._handle, len(inputs), self._tensors, len(outputs), self._places, self._sizes
        )  # fmt: skip

    def __call__(self) -> None:
        """Runs the module: reads the inputs as they are now, and overwrites the results."""
        with self._lock:
            status = _run(*self._arguments, _get_ident() == _native.main_thread)
            if status:
                _native.fail(status)


def _storage(info: TensorInfo, wanted: ElementType, array: Any) -> np.ndarray:
    """Returns the storage of a bound input, which must not need a conversion."""
    if info.is_string or not isinstance(array, np.ndarray):
        raise InvalidArgument(f"bind: input '{info.name}': expected a NumPy array, and no strings")
    if array.dtype not in (wanted.storage, wanted.dtype) or not array.flags.c_contiguous:
        raise InvalidArgument(
            f"bind: input '{info.name}': expected {wanted.name} ({wanted.dtype}) in row-major order without gaps, "
            f"found {array.dtype}"
        )
    return array.view(wanted.storage)
