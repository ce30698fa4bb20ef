"""ONNX Runtime's surface: a script changes its import to `import ember as ort`.

>>> import ember as ort, numpy as np
>>> session = ort.InferenceSession(b'''
... module @double {
...   func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
...     %0 = stablehlo.add %x, %x : tensor<3xf32>
...     return %0 : tensor<3xf32>
...   }
... }
... ''')
>>> session.get_inputs()[0]
NodeArg(name='x', type='tensor(float)', shape=[3])
>>> session.run(None, {"x": np.array([1, 2, 3], np.float32)})
[array([2., 4., 6.], dtype=float32)]
>>> ort.SessionOptions().enable_mem_pattern = False
Traceback (most recent call last):
  ...
ember.errors.Unimplemented: SessionOptions.enable_mem_pattern: expected True, as Ember always plans memory, found False

What has no meaning here is refused by its name, never ignored. A session of several threads runs one call at a time.
"""

from __future__ import annotations

import os
import weakref
from enum import IntEnum
from typing import Any, Mapping, Sequence

from .devices import devices
from .errors import Cancelled, InvalidArgument, Unimplemented
from .io_binding import IOBinding, NodeArg, OrtValue, node_arg
from .module import Module, load
from .session import Session
from .values import group

__all__ = ["IOBinding", "InferenceSession", "NodeArg", "OrtValue", "RunOptions", "SessionOptions"]

_MODULE_MAGIC = b"EMBR"
# The providers of ONNX Runtime that Ember accepts, and the driver of the device that each one
# means.
_PROVIDERS = {"EmberExecutionProvider": "cpu", "CPUExecutionProvider": "cpu", "CUDAExecutionProvider": "cuda"}


class GraphOptimizationLevel(IntEnum):
    """The levels of ONNX Runtime. Ember compiles with all optimisations, so only ORT_ENABLE_ALL has a meaning."""

    ORT_DISABLE_ALL = 0
    ORT_ENABLE_BASIC = 1
    ORT_ENABLE_EXTENDED = 2
    ORT_ENABLE_ALL = 99


class ExecutionMode(IntEnum):
    """The modes of ONNX Runtime. Ember runs one dispatch after another, each with all threads."""

    ORT_SEQUENTIAL = 0
    ORT_PARALLEL = 1


class SessionOptions:
    """Options of ONNX Runtime that have a meaning, and Ember's own, which begin with `ember_`.

    Setting any other attribute, or a value that Ember cannot honour, raises ember.Unimplemented with the name.
    """

    # Options for which Ember accepts only one value: that value, which is ONNX Runtime's default,
    # and the reason.
    _CONSTANT: dict[str, tuple[Any, str]] = {
        "graph_optimization_level": (GraphOptimizationLevel.ORT_ENABLE_ALL, "Ember compiles with all optimisations"),
        "execution_mode": (ExecutionMode.ORT_SEQUENTIAL, "Ember gives all threads to each dispatch"),
        "enable_mem_pattern": (True, "Ember always plans memory"),
        "enable_cpu_mem_arena": (True, "Ember always plans memory"),
        "enable_mem_reuse": (True, "Ember always plans memory"),
        "use_deterministic_compute": (False, "results never depend on the number of threads"),
    }
    _FIELDS: dict[str, Any] = {
        "intra_op_num_threads": 0,
        "inter_op_num_threads": 0,
        "enable_profiling": False,
        "optimized_model_filepath": "",
        "log_severity_level": 2,
        "logid": "",
        # The options of ember.Session, with the prefix ember_.
        "ember_tier": "auto",
        "ember_kernel_cache": None,
        "ember_memory_limit": 0,
        "ember_max_seconds": 0.0,
        "ember_allow_native": False,
        # The shapes of inputs, as the option `inputs` of ember.compile.
        "ember_inputs": (),
    }

    def __init__(self) -> None:
        for name, (value, _) in self._CONSTANT.items():
            object.__setattr__(self, name, value)
        for name, value in self._FIELDS.items():
            object.__setattr__(self, name, value)
        object.__setattr__(self, "_symbols", {})

    def __setattr__(self, name: str, value: Any) -> None:
        if name in self._CONSTANT:
            wanted, why = self._CONSTANT[name]
            if value != wanted:
                raise Unimplemented(f"SessionOptions.{name}: expected {wanted}, as {why}, found {value}")
        elif name == "inter_op_num_threads" and value not in (0, 1):
            raise Unimplemented(f"SessionOptions.{name}: expected 0 or 1; use intra_op_num_threads, found {value}")
        elif name not in self._FIELDS:
            raise Unimplemented(f"SessionOptions.{name}: expected one of {', '.join(self._FIELDS)}")
        object.__setattr__(self, name, value)

    def add_free_dimension_override_by_name(self, name: str, extent: int) -> None:
        """Pins the open dim of this name when the model is compiled."""
        self._symbols[name] = extent

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise Unimplemented(f"SessionOptions.{name}: Ember has no such option")


class RunOptions:
    """Setting `terminate` to True, on any thread, cancels the runs that have these options."""

    def __init__(self) -> None:
        self._sessions: weakref.WeakSet[Session] = weakref.WeakSet()
        self._terminate = False
        self.logid = ""

    @property
    def terminate(self) -> bool:
        return self._terminate

    @terminate.setter
    def terminate(self, value: bool) -> None:
        self._terminate = bool(value)
        if self._terminate:
            for session in list(self._sessions):
                session.cancel()

    def __getattr__(self, name: str) -> Any:
        raise Unimplemented(f"RunOptions.{name}: Ember has no such option")


class ModelMetadata:
    """The model's metadata with ONNX Runtime's names. `custom_metadata_map` also has Ember's own keys."""

    def __init__(self, entries: Mapping[str, str]):
        self.custom_metadata_map = {
            key.removeprefix("onnx.metadata."): value for key, value in entries.items() if not _is_field(key)
        }
        self.producer_name = entries.get("onnx.producer_name", "")
        self.graph_name = entries.get("onnx.graph.name", "")
        self.domain = entries.get("onnx.domain", "")
        self.description = entries.get("onnx.doc_string", "")
        self.graph_description = entries.get("onnx.graph.doc_string", "")
        version = entries.get("onnx.model_version", "")
        self.version = int(version) if version.lstrip("-").isdigit() else 0


def _is_field(key: str) -> bool:
    return key.startswith("onnx.") and not key.startswith("onnx.metadata.")


def get_available_providers() -> list[str]:
    """Returns the providers that this machine has, the fastest first."""
    drivers = {device.name.split(":")[0] for device in devices()}
    cuda = ["CUDAExecutionProvider"] if "cuda" in drivers else []
    return [*cuda, "EmberExecutionProvider", "CPUExecutionProvider"]


def get_device() -> str:
    """Returns "GPU" if there is a CUDA device, otherwise "CPU"."""
    return "GPU" if "CUDAExecutionProvider" in get_available_providers() else "CPU"


def _choose_device(
    providers: Sequence[Any] | None, options: Sequence[Mapping[str, Any]] | None
) -> tuple[str, list[str]]:
    """Returns the device and the providers that get_providers returns."""
    chosen: list[tuple[str, Mapping[str, Any]]] = []
    for i, provider in enumerate(providers or ["CPUExecutionProvider"]):
        name, settings = provider if isinstance(provider, tuple) else (provider, {})
        if options and i < len(options):
            settings = {**settings, **options[i]}
        if name not in _PROVIDERS:
            raise Unimplemented(f"provider {name!r}: expected one of {', '.join(_PROVIDERS)}")
        unknown = set(settings) - ({"device_id"} if name == "CUDAExecutionProvider" else set())
        if unknown:
            raise Unimplemented(f"provider {name!r}: expected no option {sorted(unknown)[0]!r}")
        chosen.append((name, settings))
    available = get_available_providers()
    for name, settings in chosen:
        if name in available:
            driver = _PROVIDERS[name]
            number = int(settings.get("device_id", 0))
            device = driver if number == 0 else f"{driver}:{number}"
            used = [n for n, _ in chosen if n in available]
            return device, used if "CPUExecutionProvider" in used else [*used, "CPUExecutionProvider"]
    raise InvalidArgument(f"providers: expected one of {', '.join(available)}, found {', '.join(n for n, _ in chosen)}")


def _open(model: Any, options: SessionOptions) -> Module:
    """Loads a module, or compiles a model."""
    if isinstance(model, (bytes, bytearray, memoryview)):
        is_module = bytes(model[:4]) == _MODULE_MAGIC
    elif isinstance(model, (str, os.PathLike)):
        is_module = os.path.isfile(model) and _begins_with_magic(model)
    else:
        is_module = False
    if is_module:
        if options._symbols or options.ember_inputs:
            raise InvalidArgument("SessionOptions: expected no shapes, as the model is a compiled module")
        return load(model)
    from .compiler import compile

    return compile(model, symbols=options._symbols, inputs=options.ember_inputs)


def _begins_with_magic(path: str | os.PathLike[str]) -> bool:
    with open(path, "rb") as file:
        return file.read(4) == _MODULE_MAGIC


class InferenceSession:
    """A model that is ready to run, with the methods of onnxruntime.InferenceSession.

    path_or_bytes: a model of any format that ember.compile takes, or a compiled module, which starts sooner.
    """

    def __init__(
        self,
        path_or_bytes: Any,
        sess_options: SessionOptions | None = None,
        providers: Sequence[Any] | None = None,
        provider_options: Sequence[Mapping[str, Any]] | None = None,
        **others: Any,
    ):
        if others:
            raise Unimplemented(f"InferenceSession: expected no argument {sorted(others)[0]!r}")
        options = sess_options or SessionOptions()
        device, self._providers = _choose_device(providers, provider_options)
        self._options = options
        self.module = _open(path_or_bytes, options)
        if options.optimized_model_filepath:
            self.module.save(options.optimized_model_filepath)
        self.session = Session(
            self.module,
            tier=options.ember_tier,
            threads=options.intra_op_num_threads,
            device=None if device == "cpu" else device,
            memory_limit=options.ember_memory_limit,
            max_seconds=options.ember_max_seconds,
            allow_native=options.ember_allow_native,
            kernel_cache=options.ember_kernel_cache,
            profile=options.enable_profiling,
        )
        self._inputs = [node_arg(value, self.module.inputs) for value in group(self.module.inputs)]
        self._outputs = [node_arg(value, self.module.outputs) for value in group(self.module.outputs)]
        self._metadata: ModelMetadata | None = None

    def get_inputs(self) -> list[NodeArg]:
        """Returns the inputs that `run` needs."""
        return list(self._inputs)

    def get_outputs(self) -> list[NodeArg]:
        """Returns the results."""
        return list(self._outputs)

    def get_overridable_initializers(self) -> list[NodeArg]:
        """Returns no values: initializers are constants of a module. Name one in ember_inputs to make it an input."""
        return []

    def get_modelmeta(self) -> ModelMetadata:
        """Returns the metadata of the model."""
        if self._metadata is None:
            self._metadata = ModelMetadata(self.module.metadata)
        return self._metadata

    def get_providers(self) -> list[str]:
        """Returns the providers that the session uses."""
        return list(self._providers)

    def get_session_options(self) -> SessionOptions:
        """Returns the options that the session was made with."""
        return self._options

    def run(
        self,
        output_names: Sequence[str] | None,
        input_feed: Mapping[str, Any],
        run_options: RunOptions | None = None,
    ) -> list[Any]:
        """Returns the results that output_names names; None: all."""
        if run_options is None:
            return self.session.run(input_feed, output_names or None)
        if run_options.terminate:
            raise Cancelled("run: RunOptions.terminate is True")
        run_options._sessions.add(self.session)
        try:
            return self.session.run(input_feed, output_names or None)
        finally:
            run_options._sessions.discard(self.session)

    def run_with_ort_values(
        self, output_names: Sequence[str] | None, input_dict_ort_values: Mapping[str, OrtValue], run_options: Any = None
    ) -> list[OrtValue]:
        """Does the same with OrtValues."""
        feeds = {name: value.numpy() for name, value in input_dict_ort_values.items()}
        return [OrtValue.ortvalue_from_numpy(array) for array in self.run(output_names, feeds, run_options)]

    def io_binding(self) -> IOBinding:
        """Returns a binding: inputs and results in memory that is chosen once, for many runs."""
        return IOBinding(self)

    def run_with_iobinding(self, iobinding: IOBinding, run_options: RunOptions | None = None) -> None:
        """Runs with the memory of a binding. iobinding.get_outputs() then has the results."""
        if run_options is not None and run_options.terminate:
            raise InvalidArgument("run_with_iobinding: expected run_options without terminate")
        iobinding._run(self.session)

    def end_profiling(self) -> str:
        """Returns the profile as text, because Ember writes no file. session.profile() has it as data."""
        return str(self.session.profile())

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        raise Unimplemented(f"InferenceSession.{name}: Ember has no such method")
