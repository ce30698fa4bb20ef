"""NodeArg, OrtValue and IOBinding of ONNX Runtime's surface (ember/inference_session.py).

>>> import numpy as np
>>> value = OrtValue.ortvalue_from_numpy(np.zeros((2, 3), np.float32))
>>> value.shape(), value.data_type(), value.device_name()
([2, 3], 'tensor(float)', 'cpu')
"""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any, Sequence

import numpy as np

from .element_types import type_of_dtype
from .errors import FailedPrecondition, InvalidArgument, Unimplemented
from .module import TensorInfo
from .session import Session
from .values import MAP, OPTIONAL, SEQUENCE, TENSOR, Value

if TYPE_CHECKING:
    from .inference_session import InferenceSession


def onnx_type(info: TensorInfo) -> str:
    """Returns ONNX Runtime's text for the type of an input or result: "tensor(float)"."""
    return "tensor(string)" if info.is_string else f"tensor({info.element_type.onnx})"


class NodeArg:
    """Describes an input or result: `name`, `type` and `shape`, whose open dims are names or None."""

    def __init__(self, name: str, type: str, shape: list[Any]):  # noqa: A002
        self.name, self.type, self.shape = name, type, shape

    def __repr__(self) -> str:
        return f"NodeArg(name={self.name!r}, type={self.type!r}, shape={self.shape!r})"


def node_arg(value: Value, infos: Sequence[TensorInfo]) -> NodeArg:
    """Describes a value whose tensors are among `infos`. The shape of a sequence or map is not known."""
    info = infos[value.first]
    if value.kind == TENSOR:
        return NodeArg(info.name, onnx_type(info), list(info.shape))
    if value.kind == MAP:
        keys = infos[value.first + 1]
        text = f"map({'string' if keys.is_string else keys.element_type.onnx},{onnx_type(info)})"
        return NodeArg(info.name, text if len(info.shape) == 1 else f"seq({text})", [])
    text = onnx_type(info) if value.kind == OPTIONAL else f"seq({onnx_type(info)})"
    return NodeArg(info.name, text if value.kind == SEQUENCE else f"optional({text})", [])


def _check_cpu(device_type: str, device_id: int = 0) -> None:
    if device_type.lower() != "cpu" or device_id != 0:
        raise Unimplemented(f"device {device_type!r} {device_id}: expected cpu 0, as values are in the host's memory")


class OrtValue:
    """A tensor in the host's memory."""

    def __init__(self, array: np.ndarray):
        self._array = array

    @staticmethod
    def ortvalue_from_numpy(numpy_obj: np.ndarray, device_type: str = "cpu", device_id: int = 0) -> OrtValue:
        """Returns a value that shares the array's memory."""
        _check_cpu(device_type, device_id)
        return OrtValue(numpy_obj)

    @staticmethod
    def ortvalue_from_shape_and_type(
        shape: Sequence[int], element_type: Any, device_type: str = "cpu", device_id: int = 0
    ) -> OrtValue:
        """Returns a value with new memory, whose contents do not matter."""
        _check_cpu(device_type, device_id)
        return OrtValue(np.empty(tuple(shape), element_type))

    def numpy(self) -> np.ndarray:
        return self._array

    def shape(self) -> list[int]:
        return list(self._array.shape)

    def data_type(self) -> str:
        found = type_of_dtype(self._array.dtype)
        return "tensor(string)" if found is None else f"tensor({found.onnx})"

    def element_type(self) -> np.dtype:
        return self._array.dtype

    def data_ptr(self) -> int:
        return self._array.ctypes.data

    def device_name(self) -> str:
        return "cpu"

    def is_tensor(self) -> bool:
        return True

    def has_value(self) -> bool:
        return True

    def __dlpack__(self, **options: Any) -> object:
        return self._array.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)


def _array_at(pointer: int, element_type: Any, shape: Sequence[int]) -> np.ndarray:
    """Returns an array over memory of the caller."""
    dtype = np.dtype(element_type)
    count = int(np.prod(shape, dtype=np.int64))
    memory: Any = (ctypes.c_char * (count * dtype.itemsize)).from_address(pointer)
    return np.frombuffer(memory, dtype=dtype).reshape(tuple(shape))


class IOBinding:
    """Inputs and results of a session in memory that is bound once. One thread at a time may use a binding."""

    def __init__(self, session: InferenceSession):
        self._inputs_of_session = {info.name: info for info in session.module.inputs}
        self._outputs_of_session = [info.name for info in session.module.outputs]
        self._inputs: dict[str, Any] = {}
        # For each bound result, its array; None: new memory in each run.
        self._outputs: dict[str, np.ndarray | None] = {}
        self._results: list[OrtValue] | None = None

    def bind_cpu_input(self, name: str, arr_on_cpu: Any) -> None:
        """Binds an input to an array, whose memory each run reads anew."""
        self._check_name(name, self._inputs_of_session)
        self._inputs[name] = arr_on_cpu

    def bind_input(
        self, name: str, device_type: str, device_id: int, element_type: Any, shape: Sequence[int], buffer_ptr: int
    ) -> None:
        """Binds an input to memory of the caller, which must stay valid while the binding is used."""
        _check_cpu(device_type, device_id)
        self.bind_cpu_input(name, _array_at(buffer_ptr, element_type, shape))

    def bind_ortvalue_input(self, name: str, ortvalue: OrtValue) -> None:
        """Binds an input to a value."""
        self.bind_cpu_input(name, ortvalue.numpy())

    def bind_output(
        self,
        name: str,
        device_type: str = "cpu",
        device_id: int = 0,
        element_type: Any = None,
        shape: Sequence[int] | None = None,
        buffer_ptr: int | None = None,
    ) -> None:
        """Binds a result to memory of the caller, or to new memory in each run if there is no buffer_ptr."""
        _check_cpu(device_type, device_id)
        self._check_name(name, self._outputs_of_session)
        if buffer_ptr is not None and (shape is None or element_type is None):
            raise InvalidArgument(f"result '{name}': expected element_type and shape beside buffer_ptr, found none")
        self._outputs[name] = None if buffer_ptr is None else _array_at(buffer_ptr, element_type, shape or ())

    def bind_ortvalue_output(self, name: str, ortvalue: OrtValue) -> None:
        """Binds a result to the memory of a value."""
        self._check_name(name, self._outputs_of_session)
        self._outputs[name] = ortvalue.numpy()

    @staticmethod
    def _check_name(name: str, known: Any) -> None:
        if name not in known:
            raise InvalidArgument(f"binding '{name}': expected one of {', '.join(known)}")

    def _run(self, session: Session) -> None:
        out = [self._outputs.get(name) for name in self._outputs_of_session]
        results = session.run(self._inputs, None, out)
        by_name = dict(zip(self._outputs_of_session, results))
        self._results = [OrtValue(by_name[name]) for name in self._outputs or self._outputs_of_session]

    def get_outputs(self) -> list[OrtValue]:
        """Returns the results of the last run, in the order in which they were bound."""
        if self._results is None:
            raise FailedPrecondition("get_outputs: expected a run with the binding before, found none")
        return list(self._results)

    def copy_outputs_to_cpu(self) -> list[np.ndarray]:
        """Returns the results of the last run as arrays. They are not copied, because they are in the host's memory."""
        return [value.numpy() for value in self.get_outputs()]

    def clear_binding_inputs(self) -> None:
        self._inputs.clear()

    def clear_binding_outputs(self) -> None:
        self._outputs.clear()

    def synchronize_inputs(self) -> None:
        """Does nothing: memory of the host is ready when it is bound."""

    def synchronize_outputs(self) -> None:
        """Does nothing: a run returns when its results are written."""
