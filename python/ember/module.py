"""A compiled model: its inputs, results and metadata.

>>> import ember
>>> double = '''
... module @double {
...   func.func @main(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {
...     %0 = stablehlo.add %x, %x : tensor<?x3xf32>
...     return %0 : tensor<?x3xf32>
...   }
... }
... '''
>>> module = ember.compile(double.encode())
>>> module.inputs
(TensorInfo(name='x', type='f32', shape=('x_0', 3)),)
>>> module([[1, 2, 3]])
array([[2., 4., 6.]], dtype=float32)
"""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Callable, Mapping

import numpy as np

from ._native import Progress, ProgressEvent, check, ffi, lib, owned, text
from .element_types import TYPES, ElementType
from .errors import InvalidArgument

if TYPE_CHECKING:
    from .session import Session

STRING = "string"


@dataclass(frozen=True)
class TensorInfo:
    """Describes an input or result.

    A dim of `shape` is a number, a symbol's name or a formula, or None if the extent is not known before the run.
    `logical_type` is not empty if `type` only says how the elements are stored.
    """

    name: str
    type: str
    shape: tuple[int | str | None, ...]
    logical_type: str = ""

    @property
    def element_type(self) -> ElementType:
        return _BY_NAME[self.type]

    @property
    def dtype(self) -> np.dtype:
        """The NumPy dtype of the elements: object for strings."""
        return np.dtype(object) if self.is_string else self.element_type.dtype

    @property
    def is_string(self) -> bool:
        return self.logical_type == STRING

    def __repr__(self) -> str:
        logical = f", logical_type={self.logical_type!r}" if self.logical_type else ""
        return f"TensorInfo(name={self.name!r}, type={self.type!r}, shape={self.shape!r}{logical})"


_BY_NAME = {t.name: t for t in TYPES}


def _read_infos(handle: Any, count: int, info_of: Any, dim_of: Any, logical_of: Any) -> tuple[TensorInfo, ...]:
    infos = []
    info = ffi.new("EmberTensorInfo*")
    for i in range(count):
        check(info_of(handle, i, info))
        dims: list[int | str | None] = []
        for d in range(info.rank):
            name = text(dim_of(handle, i, d))
            extent = info.dims[d]
            dims.append(extent if extent >= 0 else None if name in ("?", "") else name)
        infos.append(TensorInfo(text(info.name), TYPES[info.type].name, tuple(dims), text(logical_of(handle, i))))
    return tuple(infos)


class Module:
    """A module that was loaded or compiled. It is immutable, and any number of threads and sessions may share it.

    Calling the module runs it in a session of default options, which the first call makes. Make a Session for other
    options, and one for each thread that runs at the same time.
    """

    def __init__(self, handle: Any, source: Path | bytes | memoryview, owner: object = None):
        # `owner`: keeps alive the memory in which the module's constants are.
        self._handle = owned(handle, lib.ember_module_release, owner)
        self._source = source
        self._owner = owner
        self.inputs = _read_infos(
            handle,
            lib.ember_module_input_count(handle),
            lib.ember_module_input_info,
            lib.ember_module_input_dim,
            lib.ember_module_input_logical_type,
        )
        self.outputs = _read_infos(
            handle,
            lib.ember_module_result_count(handle),
            lib.ember_module_result_info,
            lib.ember_module_result_dim,
            lib.ember_module_result_logical_type,
        )
        self._lock = threading.Lock()
        self._session: Session | None = None
        self._has_session = False
        self.diagnostics: tuple[Any, ...] = ()

    @property
    def metadata(self) -> Mapping[str, str]:
        """The texts that the model's maker and the compiler stored, by their keys."""
        entries = {}
        for i in range(lib.ember_module_metadata_count(self._handle)):
            key = text(lib.ember_module_metadata_key(self._handle, i))
            entries[key] = text(lib.ember_module_metadata_value(self._handle, i))
        return MappingProxyType(entries)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the module to a file (.vmfb). Readers of the file see its old or its new contents, never a part."""
        target = Path(path)
        temporary = target.with_name(f".{target.name}.{os.getpid()}.{threading.get_ident()}.tmp")
        data = self._source.read_bytes() if isinstance(self._source, Path) else self._source
        try:
            temporary.write_bytes(data)
            os.replace(temporary, target)
        finally:
            temporary.unlink(missing_ok=True)

    def add_overlay(self, path: str | os.PathLike[str]) -> None:
        """Adds a file with kernels (vm-prejit --overlay), before the first session is made."""
        check(lib.ember_module_add_overlay(self._handle, os.fsencode(path)))

    def session(self, **options: Any) -> Session:
        """Makes a session; the options are those of ember.Session."""
        from .session import Session

        return Session(self, **options)

    def __call__(self, *inputs: Any, **named: Any) -> Any:
        """Runs the module and returns its result, or a tuple of its results."""
        if self._session is None:
            with self._lock:
                if self._session is None:
                    self._session = self.session()
        return self._session(*inputs, **named)

    def result_shapes(self, *shapes: tuple[int, ...]) -> tuple[tuple[int | None, ...], ...]:
        """Returns the shapes of the results for inputs of these shapes, without a run. None: it depends on data."""
        if len(shapes) != len(self.inputs):
            raise InvalidArgument(f"result_shapes: expected {len(self.inputs)} shapes, found {len(shapes)}")
        keep = [ffi.new("int64_t[]", list(s)) for s in shapes]
        given = ffi.new("EmberShape[]", [{"rank": len(s), "dims": k} for s, k in zip(shapes, keep)])
        found = []
        for i, info in enumerate(self.outputs):
            dims = ffi.new("int64_t[]", max(1, len(info.shape)))
            check(lib.ember_module_result_shape(self._handle, given, len(shapes), i, dims))
            found.append(tuple(None if dims[d] < 0 else dims[d] for d in range(len(info.shape))))
        return tuple(found)

    def __repr__(self) -> str:
        return f"<ember.Module {_signature(self.inputs)} -> {_signature(self.outputs)}>"

    def _repr_html_(self) -> str:
        from .html import table

        # Dims are joined by "×" instead of "x", because a dim's name may contain an x.
        rows = [("input", i.name, i.logical_type or i.type, _shape_text(i, " × ")) for i in self.inputs]
        rows += [("result", o.name, o.logical_type or o.type, _shape_text(o, " × ")) for o in self.outputs]
        return table(("", "name", "type", "shape"), rows)


def _shape_text(info: TensorInfo, sign: str) -> str:
    return sign.join("?" if d is None else str(d) for d in info.shape) or "scalar"


def _signature(infos: tuple[TensorInfo, ...]) -> str:
    parts = [f"{i.name}: " + "x".join([*("?" if d is None else str(d) for d in i.shape), i.type]) for i in infos]
    return "(" + ", ".join(parts) + ")"


def from_pointer(data: Any, size: int, owner: object) -> Module:
    """Loads a module from memory that `owner` keeps alive. Memory that is aligned to 64 is used in place."""
    handle = ffi.new("EmberModule**")
    check(lib.ember_module_load_memory(data, size, handle))
    return Module(handle[0], memoryview(ffi.buffer(data, size)), owner)


def load(
    source: str | os.PathLike[str] | bytes | bytearray | memoryview,
    *,
    verify: bool = False,
    progress: Callable[[ProgressEvent], object] | None = None,
) -> Module:
    """Loads a module (.vmfb) from a file, which is mapped and must not change, or from bytes.

    verify: compares every constant with its checksum. progress: is called before each step; False stops the call.
    """
    handle = ffi.new("EmberModule**")
    listener = Progress(progress)
    options = ffi.new("EmberModuleOptions*", {"struct_size": ffi.sizeof("EmberModuleOptions")})
    options.verify_constants = verify
    options.progress = listener.struct
    origin: Path | bytes
    owner: object = None
    if isinstance(source, (bytes, bytearray, memoryview)):
        # A bytearray or memoryview is copied to bytes, which are immutable, because its contents
        # may change after the load.
        origin = source if isinstance(source, bytes) else bytes(source)
        owner = ffi.from_buffer(origin)
        options.data, options.data_size = owner, len(origin)
    else:
        origin = Path(source).absolute()
        owner = ffi.new("char[]", os.fsencode(source))
        options.path = owner
    status = lib.ember_module_load(options, handle)
    listener.check()
    check(status)
    return Module(handle[0], origin, owner)
