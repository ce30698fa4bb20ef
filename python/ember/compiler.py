"""Compiles models to modules.

>>> import ember
>>> [f.name for f in ember.formats()][:2]
['onnx', 'tflite']
>>> try:
...     ember.compile(b"module @m { func.func @main() { stablehlo.frobnicate } }", name="m.mlir")
... except ember.CompileError as error:
...     print(error.diagnostics[0].severity, error.diagnostics[0].file)
error m.mlir
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from typing import Any, Callable, Mapping, Sequence

import numpy as np

from . import _native, model_files
from ._native import Progress, ProgressEvent, ffi, lib, text
from .element_types import type_of_dtype
from .errors import InvalidArgument, make_error
from .module import Module, from_pointer

# Alignment in bytes that a constant's memory must have for the compiler to use it in place.
_ALIGNMENT = 64


@dataclass(frozen=True)
class Diagnostic:
    """A note or an error of a compilation.

    `step` is the operator's type or the pass that was in progress, `node` the model's node that the message names.
    """

    severity: str  # "note" or "error"
    message: str
    file: str
    stage: str  # "import" or "compile", the part of the compilation; "" before its first step
    step: str
    node: str  # node of the model, such as "conv1 (Conv)"; "" if there is none

    def __str__(self) -> str:
        place = f" ({self.stage}: {self.step})" if self.step else ""
        return f"{self.file}: {self.severity}: {self.message}{place}"


@dataclass(frozen=True)
class Format:
    """A format of models that compile reads."""

    name: str
    title: str
    extensions: tuple[str, ...]


class CancelToken:
    """Stops compilations: pass it to compile, and call cancel() on any thread."""

    def __init__(self) -> None:
        _native.load_compiler()
        handle = ffi.new("EmberCancelToken**")
        _check(lib.compiler_cancel_token_create(handle))
        self._handle = ffi.gc(handle[0], lib.compiler_cancel_token_release)

    def cancel(self) -> None:
        """Stops the compilations that have the token, now and later."""
        lib.compiler_cancel_token_cancel(self._handle)


def _check(status: int) -> None:
    if status:
        raise make_error(status, text(lib.compiler_error_message()))


def formats() -> tuple[Format, ...]:
    """Returns the formats of models that compile reads."""
    _native.load_compiler()
    found: list[Format] = []
    info = ffi.new("EmberFormatInfo*", {"struct_size": ffi.sizeof("EmberFormatInfo")})
    while lib.compiler_format_info(len(found), info) == 0:
        found.append(Format(text(info.name), text(info.title), tuple(text(info.extensions).split())))
    return tuple(found)


class _Options:
    """The options in the form of the C API, with the memory that they point to."""

    def __init__(self) -> None:
        self.struct = ffi.new("EmberCompileOptions*", {"struct_size": ffi.sizeof("EmberCompileOptions")})
        self.keep: list[Any] = []

    def text(self, value: str | os.PathLike[str] | bytes | None) -> Any:
        if value is None:
            return ffi.NULL
        made = ffi.new("char[]", value.encode("utf-8") if isinstance(value, str) else os.fsencode(value))
        self.keep.append(made)
        return made

    def texts(self, values: Sequence[str]) -> tuple[Any, int]:
        made = ffi.new("char*[]", [self.text(v) for v in values] or 1)
        self.keep.append(made)
        return made, len(values)

    def set_data(self, data: bytes | bytearray | memoryview) -> None:
        """Sets the model as bytes, in memory that is aligned so that the compiler uses it in place."""
        size = len(data)
        memory = ffi.new("char[]", size + _ALIGNMENT)
        address = int(ffi.cast("uintptr_t", memory))
        start = memory + (-address) % _ALIGNMENT
        ffi.memmove(start, data, size)
        self.keep.append(memory)
        self.struct.data, self.struct.data_size = start, size

    def set_constants(self, constants: Mapping[str, Any]) -> None:
        made = ffi.new("EmberNamedTensor[]", max(1, len(constants)))
        for entry, (name, value) in zip(made, constants.items()):
            array = np.asarray(value, order="C")
            found = type_of_dtype(array.dtype)
            if found is None:
                raise InvalidArgument(f"constant '{name}': expected numbers or bools, found {array.dtype}")
            dims, data = ffi.new("int64_t[]", list(array.shape) or 1), ffi.from_buffer(array.view(found.storage))
            self.keep += [array, dims, data]
            entry.name = self.text(name)
            entry.tensor = (found.number, array.ndim, dims, data, array.nbytes)
        self.keep.append(made)
        self.struct.constants, self.struct.constant_count = made, len(constants)

    def set_metadata(self, metadata: Mapping[str, str]) -> None:
        made = ffi.new("EmberMetadata[]", max(1, len(metadata)))
        for entry, (key, value) in zip(made, metadata.items()):
            entry.key, entry.value = self.text(key), self.text(value)
        self.keep.append(made)
        self.struct.metadata, self.struct.metadata_count = made, len(metadata)


def _shape_specs(inputs: Mapping[str, Any] | Sequence[str]) -> list[str]:
    """Returns "x=1x3x224x224" for each shape. None or "?" in a shape leaves a dim open."""
    if not isinstance(inputs, Mapping):
        return list(inputs)
    specs = []
    for name, shape in inputs.items():
        if isinstance(shape, str):
            specs.append(f"{name}={shape}")
            continue
        specs.append(f"{name}=" + "x".join("?" if d is None else str(d) for d in shape))
    return specs


def _diagnostics(compilation: Any) -> tuple[Diagnostic, ...]:
    found = []
    made = ffi.new("EmberDiagnostic*", {"struct_size": ffi.sizeof("EmberDiagnostic")})
    for i in range(lib.compiler_compilation_diagnostic_count(compilation)):
        _check(lib.compiler_compilation_diagnostic(compilation, i, made))
        severity = "error" if made.severity == lib.EMBER_ERROR else "note"
        found.append(
            Diagnostic(
                severity, text(made.message), text(made.file), text(made.stage), text(made.step), text(made.node)
            )
        )
    return tuple(found)


def from_torch(program: Any, **options: Any) -> Module:
    """Compiles a program of torch.export.export. The options are those of compile."""
    from . import pytorch

    return pytorch.from_torch(program, **options)


def _torch_bytes(model: Any, inputs: Any, format: str | None) -> tuple[bytes, str, Any] | None:  # noqa: A002
    """Returns a model of PyTorch as bytes, with their format and the inputs that remain; None for other models."""
    # PyTorch is imported if the module torch has contents: a folder that happens to be named torch
    # is an empty module.
    if not hasattr(sys.modules.get("torch"), "nn"):
        return None
    if isinstance(model, (str, os.PathLike, bytes, bytearray, memoryview)):
        return None
    from . import pytorch

    if not pytorch.is_torch_model(model):
        return None
    if format is not None:
        raise InvalidArgument(f"compile: expected format only with a path or bytes, found {format!r}")
    return pytorch.to_bytes(model, inputs)


def _convert(model: Any, name: str | None, dtype: Any, format: str | None) -> bytes | None:  # noqa: A002
    """Returns an estimator, or a model of XGBoost or LightGBM, as an ONNX model, and None for all other models."""
    number = "float32" if dtype is None else dtype
    if type(model).__module__.split(".")[0] in ("sklearn", "xgboost"):
        if format is not None:
            raise InvalidArgument(f"compile: expected format only with a path or bytes, found {format!r}")
        from . import estimators

        return estimators.to_onnx(model, number)
    if format is None and isinstance(model, (bytes, bytearray, memoryview, str, os.PathLike)):
        converted = model_files.read(model, name, number)
        if converted is not None:
            return converted
    if dtype is not None:
        raise InvalidArgument("compile: expected dtype only with an estimator, or a model of XGBoost or LightGBM")
    return None


def compile(  # noqa: A001 (the name of the function is the public one)
    model: Any,
    *,
    inputs: Mapping[str, Any] | Sequence[str] = (),
    symbols: Mapping[str, int] | None = None,
    constants: Mapping[str, Any] | None = None,
    metadata: Mapping[str, str] | None = None,
    name: str | None = None,
    folder: str | os.PathLike[str] | None = None,
    format: str | None = None,  # noqa: A002
    entry: str | None = None,
    separate_dims: bool = False,
    disabled_passes: Sequence[str] = (),
    memory_limit: int = 0,
    max_seconds: float = 0,
    progress: Callable[[ProgressEvent], object] | None = None,
    cancel: CancelToken | None = None,
    dtype: Any = None,
) -> Module:
    """Compiles a model and loads the module.

    Args:
      model: the path of a file or folder, bytes, an onnx.ModelProto, a fitted estimator (ember.estimators), or a model of
        PyTorch (ember.pytorch): a module, TorchScript, or a program of torch.export.
      inputs: shapes of inputs that the model leaves open: {"x": (1, 3, None)}, or "x=1x3x?". A module of PyTorch needs
        all of them, and they may be tensors: (x,).
      symbols: extents of open dims by their names: {"batch": 8}.
      constants: inputs that become constants, by name.
      metadata: texts to add to the module's metadata.
      name: the name of bytes in messages.
      folder: the folder with files to which bytes refer (external weights).
      format: the name of the model's format; None: recognised by its contents.
      entry: the function to compile, if the model has several.
      separate_dims: open dims need not be equal even if the model gives them one name.
      memory_limit, max_seconds: limits, which are checked before each step; 0: none.
      progress: is called before each step; False stops the compilation.
      cancel: stops the compilation from another thread. Ctrl-C stops it, too.
      dtype: the type of numbers in an estimator or a model of XGBoost or LightGBM: "float32" (None), "float64".

    Raises:
      ember.CompileError, and the class of the status; its `diagnostics` say which node was imported.
    """
    _native.load_compiler()
    options = _Options()
    struct = options.struct
    exported = _torch_bytes(model, inputs, format)
    if exported is not None:
        name = name or type(model).__name__
        model, format, inputs = exported
    converted = _convert(model, name, dtype, format)
    if converted is not None:
        options.set_data(converted)
        if not isinstance(model, (bytes, bytearray, memoryview, str, os.PathLike)):
            name = name or type(model).__name__
        elif isinstance(model, (str, os.PathLike)):
            name = os.path.basename(os.fsdecode(model))
        format = "onnx"
    elif hasattr(model, "SerializeToString"):
        options.set_data(model.SerializeToString())
        name, format = name or "model.onnx", format or "onnx"
    elif isinstance(model, (bytes, bytearray, memoryview)):
        options.set_data(model)
    elif isinstance(model, (str, os.PathLike)):
        if name is not None or folder is not None:
            raise InvalidArgument("compile: expected name and folder only with bytes, found a path")
        struct.path = options.text(os.fsencode(model))
    else:
        raise InvalidArgument(
            "compile: expected a path, bytes, an onnx.ModelProto, a fitted estimator or a model of PyTorch, found "
            f"{type(model).__module__}.{type(model).__qualname__}"
        )
    struct.name, struct.format, struct.entry = options.text(name), options.text(format), options.text(entry)
    struct.folder = options.text(folder)
    struct.shapes, struct.shape_count = options.texts(_shape_specs(inputs))
    struct.symbols, struct.symbol_count = options.texts([f"{n}={e}" for n, e in (symbols or {}).items()])
    struct.disabled_passes, struct.disabled_pass_count = options.texts(disabled_passes)
    options.set_constants(constants or {})
    options.set_metadata(metadata or {})
    struct.separate_dims = separate_dims
    struct.memory_limit, struct.max_seconds = memory_limit, max_seconds
    struct.cancel = ffi.NULL if cancel is None else cancel._handle
    listener = Progress(progress)
    struct.progress = listener.struct
    return _compile(options, listener)


def _compile(options: _Options, listener: Progress) -> Module:
    made = ffi.new("EmberCompilation**")
    status = lib.compiler_compile(options.struct, made)
    message = text(lib.compiler_error_message()) if status else ""
    compilation = ffi.gc(made[0], lib.compiler_compilation_release) if made[0] != ffi.NULL else ffi.NULL
    listener.check()
    diagnostics = _diagnostics(compilation) if compilation != ffi.NULL else ()
    if status:
        raise make_error(status, message, diagnostics)
    data, size = ffi.new("void**"), ffi.new("size_t*")
    _check(lib.compiler_compilation_module(compilation, ffi.cast("const void**", data), size))
    # The module is in the compilation's memory, so the compilation lives as long as the module.
    module = from_pointer(data[0], size[0], compilation)
    module.diagnostics = diagnostics
    return module
