"""The part of a session that runs: it checks arrays, passes their memory to the C API, and returns results.

ember.Session derives from Runner. Arrays are passed without copies where their layout allows it (ember/arrays.py).
"""

from __future__ import annotations

import threading
from typing import Any, Mapping, Sequence

import numpy as np

from . import _native
from ._native import check, ffi, lib
from .arrays import as_input, as_strings, check_output
from .binding import Binding
from .element_types import TYPES
from .errors import InvalidArgument
from .module import Module, TensorInfo
from .values import OPTIONAL, OPTIONAL_SEQUENCE, TENSOR, group, join, split

# Number of different input shapes for which a session remembers the shapes of the results.
_MAX_SHAPES = 64
# These functions are bound to names of the module, which Python finds faster than attributes: a
# short run calls several.
_get_ident = threading.get_ident
_empty = np.empty
_ndarray = np.ndarray
_run = lib.ember_python_run
_run_one = lib.ember_python_run_one
# Returns the memory of a contiguous array as a buffer, which keeps the array alive and in place.
_from_buffer = ffi.from_buffer
_CHARS = ffi.typeof("char[]")


class Runner:
    """Runs a session of the C API. One run at a time is in progress: other threads wait."""

    def __init__(self, module: Module, handle: Any):
        self.module = module
        self._handle = handle
        self._lock = threading.Lock()
        self._prepare()

    def _prepare(self) -> None:
        """Makes the structs that each run fills."""
        inputs, outputs = self.module.inputs, self.module.outputs
        # The model's values, each of one or more tensors. Most models have single tensors only, so
        # that no run needs to split or join values.
        self._inputs, self._outputs = group(inputs), group(outputs)
        self._has_groups = any(value.kind != TENSOR for value in (*self._inputs, *self._outputs))
        self._names = {value.name: i for i, value in enumerate(self._inputs)}
        self._output_names = {value.name: i for i, value in enumerate(self._outputs)}
        self._array = ffi.new("EmberTensor[]", max(1, len(inputs)))
        self._tensors = [self._array[i] for i in range(len(inputs))]
        self._places = ffi.new("void*[]", max(1, len(outputs)))
        self._sizes = ffi.new("size_t[]", max(1, len(outputs)))
        self._dims = [ffi.new("int64_t[]", max(1, len(info.shape))) for info in inputs]
        # For each input: the shape that self._dims[i] was last filled with, and the NumPy dtype of
        # its elements.
        self._shapes: list[tuple[int, ...] | None] = [None] * len(inputs)
        self._input_types = [info.element_type for info in inputs]
        self._storages = [t.storage for t in self._input_types]
        for tensor, info, dims in zip(self._tensors, inputs, self._dims):
            tensor.type = info.element_type.number
            tensor.rank = len(info.shape)
            tensor.dims = dims
        self._has_strings = any(info.is_string for info in (*inputs, *outputs))
        self._result_storages = [None if info.is_string else info.element_type.storage for info in outputs]
        # True if every result can be returned as an array of its storage dtype: there are no
        # strings, and no dtypes of ml_dtypes.
        self._is_plain = all(info.dtype is storage for info, storage in zip(outputs, self._result_storages))
        # The shapes of the results, if all of their dims are constant, else None.
        self._fixed: list[Any] | None = None
        if all(isinstance(d, int) for info in outputs for d in info.shape):
            self._fixed = [info.shape for info in outputs]
        # True if the module has one input and one result of constant shape, for which runs take a
        # shorter path. `_simple`: the result's shape, storage dtype and bytes.
        self._is_simple = len(inputs) == len(outputs) == 1 and self._is_plain and self._fixed is not None
        self._is_simple = self._is_simple and not self._has_strings and not self._has_groups
        if self._is_simple and self._fixed:
            storage = outputs[0].element_type.storage
            self._simple: tuple[Any, np.dtype, int] = (
                self._fixed[0],
                storage,
                int(np.prod(self._fixed[0], dtype=np.int64)) * storage.itemsize,
            )
        self._known_shapes: dict[tuple[tuple[int, ...], ...], list[Any]] = {}
        self._is_direct = False  # True if the run's arrays are returned without a conversion.

    def __call__(self, *inputs: Any, out: Any = None, **named: Any) -> Any:
        """Runs the module and returns its result, or a tuple of its results.

        Inputs are given in order or by name. `out` is an array, or a sequence of arrays, to which results are written;
        None in it: a new array.
        """
        if named:
            inputs = self._order(inputs, named)
        if self._is_simple and len(inputs) == 1:
            result = self._run_simple(inputs[0], out)
            if result is not None:
                return result
        if out is not None and isinstance(out, np.ndarray):
            out = (out,)
        results = self._run_values(inputs, out) if self._has_groups else self._run(inputs, out)
        return results[0] if len(results) == 1 else tuple(results)

    def run(
        self,
        inputs: Sequence[Any] | Mapping[str, Any],
        outputs: Sequence[str] | None = None,
        out: Sequence[np.ndarray | None] | None = None,
    ) -> list[np.ndarray]:
        """Runs the module and returns the results that `outputs` names, or all, as a list."""
        given = self._order((), inputs) if isinstance(inputs, Mapping) else tuple(inputs)
        numbers = None if outputs is None else [self._output_number(name) for name in outputs]
        results = self._run_values(given, out) if self._has_groups else self._run(given, out)
        return results if numbers is None else [results[i] for i in numbers]

    def bind(self, inputs: Sequence[np.ndarray], outputs: Sequence[np.ndarray]) -> Binding:
        """Returns a function without arguments that runs the module on these arrays: the shortest call."""
        return Binding(self, inputs, outputs)

    def _output_number(self, name: str) -> int:
        if name not in self._output_names:
            raise InvalidArgument(f"result '{name}': expected one of {', '.join(self._output_names)}")
        return self._output_names[name]

    def _order(self, inputs: Sequence[Any], named: Mapping[str, Any]) -> tuple[Any, ...]:
        """Returns the inputs in the module's order. A state that is not given is zeros."""
        if len(inputs) > len(self._inputs):
            self._refuse_inputs(inputs)
        values: list[Any] = [None] * len(self._inputs)
        values[: len(inputs)] = inputs
        for name, value in named.items():
            number = self._names.get(name)
            if number is None:
                raise InvalidArgument(f"input '{name}': expected one of {', '.join(self._names) or 'none'}")
            if number < len(inputs):
                raise InvalidArgument(f"input '{name}': expected one value, found two")
            values[number] = value
        for i, wanted in enumerate(self._inputs):
            # A missing value is allowed for an optional: None is one of its values.
            if values[i] is not None or wanted.kind in (OPTIONAL, OPTIONAL_SEQUENCE):
                continue
            info = self.module.inputs[wanted.first]
            if info.logical_type != "state":
                raise InvalidArgument(f"input '{info.name}': expected a value, found none")
            values[i] = np.zeros([d if isinstance(d, int) else 1 for d in info.shape], info.element_type.storage)
        return tuple(values)

    def _run_values(self, inputs: Sequence[Any], out: Sequence[Any] | None) -> list[Any]:
        """Runs a module with sequences, optionals or maps: each is split into tensors, and results are joined."""
        if out is not None:
            raise InvalidArgument("out: expected None, as the model has sequences, optionals or maps")
        values = self._order(inputs, {})
        infos = self.module.inputs
        tensors = [part for value, given in zip(self._inputs, values) for part in split(value, infos, given)]
        found = self._run(tensors, None)
        return [join(value, found[value.first : value.first + value.count]) for value in self._outputs]

    def _run(self, inputs: Sequence[Any], out: Sequence[Any] | None) -> list[Any]:
        if len(inputs) != len(self._shapes):
            inputs = self._order(inputs, {}) if len(inputs) < len(self._shapes) else self._refuse_inputs(inputs)
        with self._lock:
            # Buffers of the memory that the run uses. Each keeps its array alive and in place until
            # the run has ended.
            keep: list[Any] = []
            if self._has_strings:
                inputs = self._set_strings(inputs)
            storages, shapes, tensors = self._storages, self._shapes, self._tensors
            for i, value in enumerate(inputs):
                # An array of the right dtype needs no conversion, unless it has gaps: from_buffer
                # then fails, and the array is copied.
                if type(value) is _ndarray and value.dtype is storages[i]:
                    try:
                        data = _from_buffer(value)
                    except (BufferError, ValueError):
                        value = as_input(self.module.inputs[i].name, self._input_types[i], value)
                        data = _from_buffer(value)
                elif value is None:
                    continue
                else:
                    value = as_input(self.module.inputs[i].name, self._input_types[i], value)
                    data = _from_buffer(value)
                if value.shape != shapes[i]:
                    self._set_shape(i, value)
                tensors[i].data = data
                keep.append(data)
            results = self._make_results(out, keep)
            status = _run(
                self._handle,
                len(inputs),
                self._array,
                len(results),
                self._places,
                self._sizes,
                _get_ident() == _native.main_thread,
            )
            if status:
                _native.fail(status)
            if self._is_direct:
                return results
            return self._finish(results, out)

    def _run_simple(self, value: Any, out: Any) -> Any:
        """Runs a module with one input and one result of constant shape, without structs and loops.

        Returns None, without a run, if the arrays need a conversion or are wrong: _run then converts or refuses them.
        """
        if type(value) is not _ndarray or value.dtype is not self._storages[0]:
            return None
        shape, storage, size = self._simple
        if out is None:
            out = _empty(shape, storage)
        elif type(out) is not _ndarray or out.dtype is not storage or out.shape != shape:
            return None
        try:
            data, place = _from_buffer(value), _from_buffer(_CHARS, out, True)
        except (BufferError, ValueError):
            return None
        with self._lock:
            if value.shape != self._shapes[0]:
                self._set_shape(0, value)
            status = _run_one(self._handle, self._array, data, place, size, _get_ident() == _native.main_thread)
            if status:
                _native.fail(status)
        return out

    def _refuse_inputs(self, inputs: Sequence[Any]) -> Any:
        raise InvalidArgument(f"inputs: expected {len(self._inputs)}, found {len(inputs)}")

    def _set_shape(self, i: int, value: np.ndarray) -> None:
        tensor, shape = self._tensors[i], value.shape
        self._shapes[i] = None
        if len(shape) > len(self.module.inputs[i].shape):
            self._dims[i] = ffi.new("int64_t[]", len(shape))
            tensor.dims = self._dims[i]
        self._dims[i][0 : len(shape)] = shape
        tensor.rank = len(shape)
        tensor.byte_size = value.nbytes
        self._shapes[i] = shape

    def _set_strings(self, inputs: Sequence[Any]) -> list[Any]:
        """Sets the inputs that are strings, and returns the others, with None in place of strings."""
        others = list(inputs)
        for i, info in enumerate(self.module.inputs):
            if not info.is_string:
                continue
            array = as_strings(info.name, others[i])
            items = [ffi.from_buffer(item) for item in array.reshape(-1)]
            strings = ffi.new("EmberString[]", max(1, len(items)))
            for string, item in zip(strings, items):
                string.data, string.size = item, len(item)
            dims = ffi.new("int64_t[]", list(array.shape) or 1)
            tensor = ffi.new("EmberStringTensor*", (array.ndim, dims, strings, len(items)))
            check(lib.ember_session_set_input_strings(self._handle, i, tensor))
            # The C API has the strings already. A NULL with size 1 says to ember_python_run that
            # this input is set.
            self._tensors[i].data, self._tensors[i].byte_size = ffi.NULL, 1
            self._shapes[i] = array.shape
            others[i] = None
        return others

    def _result_shapes(self) -> list[Any]:
        """Returns the shapes of results for the current inputs. None: the shape is known only after the run."""
        key = tuple(s or () for s in self._shapes)
        shapes = self._known_shapes.get(key)
        if shapes is None:
            found = self.module.result_shapes(*key)
            shapes = [None if None in shape else shape for shape in found]
            if len(self._known_shapes) >= _MAX_SHAPES:
                self._known_shapes.clear()
            self._known_shapes[key] = shapes
        return shapes

    def _make_results(self, out: Sequence[Any] | None, keep: list[Any]) -> list[Any]:
        """Returns the arrays of storage to which the run writes. None: the result is in the session's memory."""
        shapes = self._fixed or self._result_shapes()
        storages = self._result_storages
        if out is not None and len(out) != len(storages):
            raise InvalidArgument(f"out: expected {len(storages)} arrays, found {len(out)}")
        results: list[Any] = []
        places, sizes = self._places, self._sizes
        is_plain = self._is_plain
        for i, storage in enumerate(storages):
            given = None if out is None else out[i]
            shape = shapes[i]
            if given is not None:
                result = given
                if type(given) is not _ndarray or given.dtype is not storage or given.shape != shape:
                    result = self._check_out(i, given, shape)
            elif shape is None or storage is None:
                places[i], sizes[i] = ffi.NULL, 0
                results.append(None)
                is_plain = False
                continue
            else:
                result = _empty(shape, storage)
            try:
                data = _from_buffer(_CHARS, result, True)
            except (BufferError, ValueError):
                # The array that the caller gave for the result does not fit: _check_out raises an
                # error with the reason.
                data = _from_buffer(_CHARS, self._check_out(i, given, shape), True)
            keep.append(data)
            places[i] = data
            sizes[i] = result.nbytes
            results.append(result)
        self._is_direct = is_plain
        return results

    def _check_out(self, i: int, given: Any, shape: tuple[int, ...] | None) -> np.ndarray:
        info = self.module.outputs[i]
        if info.is_string:
            raise InvalidArgument(f"result '{info.name}': expected None in `out`, as results of strings are new arrays")
        storage = check_output(info.name, info.element_type, given)
        if shape is not None and storage.shape != shape:
            raise InvalidArgument(f"result '{info.name}': expected shape {shape}, found {storage.shape}")
        return storage

    def _finish(self, results: list[Any], out: Sequence[Any] | None) -> list[Any]:
        """Returns the arrays for the caller: his own, or those of the run with the dtypes of results."""
        for i, info in enumerate(self.module.outputs):
            if out is not None and out[i] is not None:
                results[i] = out[i]
            elif results[i] is None:
                results[i] = self._copy_strings(i) if info.is_string else self._copy_result(i, info)
            elif info.element_type.extended is not None:
                results[i] = results[i].view(info.element_type.dtype)
        return results

    def _copy_result(self, i: int, info: TensorInfo) -> np.ndarray:
        tensor = ffi.new("EmberTensor*")
        check(lib.ember_session_result(self._handle, i, tensor))
        shape = tuple(tensor.dims[d] for d in range(tensor.rank))
        result = np.empty(shape, TYPES[tensor.type].storage)
        if result.nbytes:
            ffi.memmove(ffi.from_buffer(result), tensor.data, result.nbytes)
        return result.view(info.element_type.dtype)

    def _copy_strings(self, i: int) -> np.ndarray:
        tensor = ffi.new("EmberStringTensor*")
        check(lib.ember_session_result_strings(self._handle, i, tensor))
        result = np.empty(tuple(tensor.dims[d] for d in range(tensor.rank)), dtype=object)
        flat = result.reshape(-1)
        for n in range(tensor.count):
            string = tensor.strings[n]
            flat[n] = ffi.buffer(string.data, string.size)[:].decode("utf-8", errors="surrogateescape")
        return result
