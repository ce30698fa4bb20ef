"""Ember: compiles and runs trained models.

>>> import ember
>>> double = b'''
... module @double {
...   func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
...     %0 = stablehlo.add %x, %x : tensor<3xf32>
...     return %0 : tensor<3xf32>
...   }
... }
... '''
>>> module = ember.compile(double)          # a path, bytes, an onnx.ModelProto, …
>>> module([1, 2, 3])
array([2., 4., 6.], dtype=float32)

A program for ONNX Runtime runs with `import ember as ort`: see ember.InferenceSession.
"""

import importlib

from ._native import VERSION as __version__
from ._native import ProgressEvent
from .binding import Binding
from .compiler import CancelToken, Diagnostic, Format, compile, formats, from_torch
from .devices import Device, devices
from .dlpack import Bfloat16
from .errors import (
    Cancelled,
    CompileError,
    DataLoss,
    Error,
    FailedPrecondition,
    Internal,
    InvalidArgument,
    NotFound,
    ResourceExhausted,
    Unimplemented,
)
from .inference_session import (
    ExecutionMode,
    GraphOptimizationLevel,
    InferenceSession,
    IOBinding,
    ModelMetadata,
    NodeArg,
    OrtValue,
    RunOptions,
    SessionOptions,
    get_available_providers,
    get_device,
)
from .module import Module, TensorInfo, load
from .profile import Profile, ProfileRow, TraceEvent
from .session import Session, SessionInfo



def __getattr__(name: str) -> object:
    # ember.te is imported at its first use only, because it loads the JIT's library,
    # which most programs do not need.
    if name == "te":
        return importlib.import_module(".te", __name__)
    raise AttributeError(f"module 'ember' has no attribute '{name}'")


__all__ = [
    "Bfloat16",
    "Binding",
    "CancelToken",
    "Cancelled",
    "CompileError",
    "DataLoss",
    "Device",
    "Diagnostic",
    "Error",
    "ExecutionMode",
    "FailedPrecondition",
    "Format",
    "GraphOptimizationLevel",
    "IOBinding",
    "InferenceSession",
    "Internal",
    "InvalidArgument",
    "ModelMetadata",
    "Module",
    "NodeArg",
    "NotFound",
    "OrtValue",
    "Profile",
    "ProfileRow",
    "ProgressEvent",
    "ResourceExhausted",
    "RunOptions",
    "Session",
    "SessionInfo",
    "SessionOptions",
    "TensorInfo",
    "TraceEvent",
    "Unimplemented",
    "__version__",
    "compile",
    "devices",
    "formats",
    "from_torch",
    "get_available_providers",
    "get_device",
    "load",
]
