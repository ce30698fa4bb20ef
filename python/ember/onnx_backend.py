"""The adapter for onnx.backend, by which ONNX's own tests run.

    import ember.onnx_backend as backend
    backend.prepare(onnx.load("model.onnx")).run([x])

    backend_test = onnx.backend.test.BackendTest(backend, __name__)   # ONNX's suite of conformance tests

Needs the package onnx (Debian: python3-onnx).
"""

from __future__ import annotations

from typing import Any, Sequence

import numpy as np
import onnx
from onnx import TensorProto, helper
from onnx.backend.base import Backend, BackendRep, namedtupledict

from .compiler import compile
from .devices import devices
from .errors import Error, Unimplemented
from .module import Module
from .session import Session
from .values import group

_DRIVERS = {"CPU": "cpu", "CUDA": "cuda"}


class EmberBackendRep(BackendRep):
    """A model that is ready to run."""

    def __init__(self, module: Module, tier: str, device: str):
        self.module = module
        self._session = Session(module, tier=tier, device=None if device == "cpu" else device)

    def run(self, inputs: Any, **options: Any) -> tuple[Any, ...]:
        """Runs the model. Inputs are a sequence in the model's order, an array, or a mapping by name."""
        if options:
            raise Unimplemented(f"run: expected no option {sorted(options)[0]!r}")
        given = inputs if isinstance(inputs, (list, tuple, dict)) else [inputs]
        results = self._session.run(given)
        names = [value.name for value in group(self.module.outputs)]
        return namedtupledict("Outputs", names)(*results)


class EmberBackend(Backend):
    """onnx.backend.base.Backend by Ember."""

    @classmethod
    def is_compatible(cls, model: onnx.ModelProto, device: str = "CPU", **options: Any) -> bool:
        """Returns True if the model can be compiled."""
        if not cls.supports_device(device):
            return False
        try:
            compile(model)
        except Error:
            return False
        return True

    @classmethod
    def prepare(cls, model: onnx.ModelProto, device: str = "CPU", *, tier: str = "auto", **options: Any) -> Any:
        """Compiles the model. Options are those of ember.compile, and `tier` of ember.Session."""
        if not cls.supports_device(device):
            raise Unimplemented(f"device {device!r}: expected one of {', '.join(_DRIVERS)} that this machine has")
        driver = _DRIVERS[device.split(":")[0]]
        number = device.partition(":")[2]
        return EmberBackendRep(compile(model, **options), tier, f"{driver}:{number}" if number else driver)

    @classmethod
    def run_model(cls, model: onnx.ModelProto, inputs: Any, device: str = "CPU", **options: Any) -> tuple[Any, ...]:
        """Compiles the model and runs it once."""
        return cls.prepare(model, device, **options).run(inputs)

    @classmethod
    def run_node(
        cls,
        node: onnx.NodeProto,
        inputs: Sequence[Any],
        device: str = "CPU",
        outputs_info: Sequence[tuple[np.dtype, tuple[int, ...]]] | None = None,
        **options: Any,
    ) -> tuple[Any, ...]:
        """Runs one node. The types of results are inferred if outputs_info is None."""
        names = [name for name in node.input if name]
        infos = [_value_info(name, np.asarray(value)) for name, value in zip(names, inputs)]
        if outputs_info is None:
            results = [helper.make_empty_tensor_value_info(name) for name in node.output]
        else:
            results = [
                helper.make_tensor_value_info(name, _onnx_type(np.dtype(dtype)), shape)
                for name, (dtype, shape) in zip(node.output, outputs_info)
            ]
        graph = helper.make_graph([node], "node", infos, results)
        imports = (
            {"opset_imports": [helper.make_opsetid("", options.pop("opset_version"))]}
            if "opset_version" in options
            else {}
        )
        model = helper.make_model(graph, **imports)
        if outputs_info is None:
            model = onnx.shape_inference.infer_shapes(model)
        return cls.run_model(model, dict(zip(names, inputs)), device, **options)

    @classmethod
    def supports_device(cls, device: str) -> bool:
        """Returns True if this machine has the device: "CPU", "CUDA" or "CUDA:1"."""
        driver = _DRIVERS.get(device.split(":")[0])
        return driver == "cpu" or any(d.name.split(":")[0] == driver for d in devices())


def _onnx_type(dtype: np.dtype) -> int:
    from onnx.mapping import NP_TYPE_TO_TENSOR_TYPE

    return TensorProto.STRING if dtype == object else NP_TYPE_TO_TENSOR_TYPE[dtype]


def _value_info(name: str, value: np.ndarray) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, _onnx_type(value.dtype), value.shape)


is_compatible = EmberBackend.is_compatible
prepare = EmberBackend.prepare
run_model = EmberBackend.run_model
run_node = EmberBackend.run_node
supports_device = EmberBackend.supports_device
