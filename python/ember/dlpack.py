"""DLPack (https://dmlc.github.io/dlpack/latest): arrays of other packages, without copies, in both directions.

Results are NumPy arrays, which other packages take by `from_dlpack`. NumPy cannot take or give bf16, so two functions
here do: as_array for inputs, and `Bfloat16` for results.

>>> import numpy as np
>>> bits = np.array([0x3FC0], np.uint16)          # 1.5 as bf16
>>> as_array(Bfloat16(bits)).view(np.uint16)
array([16320], dtype=uint16)
"""

from __future__ import annotations

import ctypes
import sys
from typing import Any

import numpy as np

from ._native import ffi, lib
from .errors import InvalidArgument, Unimplemented

_CPU = 1
_CUDA_HOST = 3
_BFLOAT = 4
# For each type code of DLPack: the kind of NumPy's dtypes.
_KINDS = {0: "i", 1: "u", 2: "f", _BFLOAT: "u", 6: "b"}
_ORDER = "<" if sys.byteorder == "little" else ">"

_api = ctypes.pythonapi
_new = _api.PyCapsule_New
_new.restype = ctypes.py_object
_new.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
_get_pointer = _api.PyCapsule_GetPointer
_get_pointer.restype = ctypes.c_void_p
_get_pointer.argtypes = (ctypes.py_object, ctypes.c_char_p)

# Tensors that this process has exported and that other packages hold: for each address of a
# tensor's struct, the struct and the array that keeps its memory alive.
_given: dict[int, tuple[Any, ...]] = {}


@ffi.def_extern(name="ember_python_delete_tensor")
def _delete_tensor(tensor: Any) -> None:
    _given.pop(int(ffi.cast("uintptr_t", tensor)), None)


class _Memory:
    """Memory of a DLPack tensor for NumPy. It holds the capsule, whose destructor releases the tensor."""

    def __init__(
        self, capsule: object, kind: str, address: int, shape: tuple[int, ...], strides: tuple[int, ...] | None
    ):
        self._capsule = capsule
        self.__array_interface__ = {
            "version": 3,
            "typestr": kind,
            "data": (address, False),
            "shape": shape,
            "strides": strides,
        }


def as_array(value: Any) -> np.ndarray:
    """Returns an array over the memory of an object with __dlpack__. A bf16 is its bits as uint16."""
    device = value.__dlpack_device__()
    if device[0] not in (_CPU, _CUDA_HOST):
        raise Unimplemented(
            f"DLPack: expected a tensor in the host's memory, found device {tuple(device)}; move it to the CPU first"
        )
    # Reads the tensor's struct itself: NumPy's from_dlpack refuses bf16, and in some versions its
    # error is lost.
    capsule = value.__dlpack__()
    tensor = ffi.cast("EmberDLManagedTensor*", _get_pointer(capsule, b"dltensor")).dl_tensor
    dtype = tensor.dtype
    size = dtype.bits // 8
    kind = _KINDS.get(dtype.code)
    if kind is None or dtype.lanes != 1 or size * 8 != dtype.bits or (dtype.code == _BFLOAT and size != 2):
        raise InvalidArgument(
            f"DLPack: expected a tensor of ints, floats, bools or bf16, found code {dtype.code} of {dtype.bits} bits"
        )
    rank = tensor.ndim
    strides = None if tensor.strides == ffi.NULL else tuple(size * tensor.strides[i] for i in range(rank))
    address = int(ffi.cast("uintptr_t", tensor.data)) + tensor.byte_offset
    shape = tuple(tensor.shape[i] for i in range(rank))
    return np.asarray(_Memory(capsule, f"{_ORDER}{kind}{size}", address, shape, strides))


class Bfloat16:
    """Gives an array of uint16 or ml_dtypes.bfloat16 to other packages as bf16: torch.from_dlpack(Bfloat16(y))."""

    def __init__(self, array: np.ndarray):
        if array.dtype.itemsize != 2 or not array.flags.c_contiguous:
            raise InvalidArgument(f"Bfloat16: expected an array of 16-bit elements without gaps, found {array.dtype}")
        self._array = array.view(np.uint16)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (_CPU, 0)

    def __dlpack__(self, stream: object = None, **options: object) -> object:
        array = self._array
        shape = ffi.new("int64_t[]", list(array.shape))
        managed = ffi.new("EmberDLManagedTensor*")
        tensor = managed.dl_tensor
        tensor.data = ffi.cast("void*", array.ctypes.data)
        tensor.device.device_type = _CPU
        tensor.ndim = array.ndim
        tensor.dtype.code, tensor.dtype.bits, tensor.dtype.lanes = _BFLOAT, 16, 1
        tensor.shape = shape
        managed.deleter = lib.ember_python_delete_tensor
        address = int(ffi.cast("uintptr_t", managed))
        _given[address] = (managed, shape, array)
        destructor = int(ffi.cast("uintptr_t", lib.ember_python_destructor_address()))
        return _new(address, b"dltensor", destructor)
