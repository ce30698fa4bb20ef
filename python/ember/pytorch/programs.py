"""Models of PyTorch as the bytes that torch.export.save and torch.jit.save write, and as modules."""

from __future__ import annotations

import io
from typing import Any, Mapping, Sequence

import numpy as np
import torch

from ..compiler import compile
from ..element_types import type_of_dtype
from ..errors import InvalidArgument, Unimplemented
from ..module import Module

EXPORT, SCRIPT = "torch-export", "torchscript"


def is_torch_model(model: Any) -> bool:
    """Returns True for modules, TorchScript, and programs of torch.export."""
    return isinstance(model, (torch.nn.Module, torch.jit.ScriptModule)) or _is_program(model)


def _is_program(model: Any) -> bool:
    export = getattr(torch, "export", None)
    return hasattr(export, "ExportedProgram") and isinstance(model, export.ExportedProgram)


def from_torch(program: Any, **options: Any) -> Module:
    """Compiles a program of torch.export.export. The options are those of ember.compile."""
    if not _is_program(program):
        raise InvalidArgument(
            f"from_torch: expected a program of torch.export.export, found {type(program).__name__}; ember.compile "
            "takes modules and TorchScript"
        )
    data, form, _ = to_bytes(program)
    return compile(data, format=form, **{"name": "program.pt2", **options})


def to_bytes(model: Any, inputs: Any = ()) -> tuple[bytes, str, Any]:
    """Returns a model as bytes, the name of their format, and the inputs for ember.compile.

    inputs: for a module, tensors (a tuple, or a mapping from names of arguments) or shapes (a mapping).
    """
    buffer = io.BytesIO()
    if _is_program(model):
        torch.export.save(model, buffer)
        return buffer.getvalue(), EXPORT, inputs
    if isinstance(model, torch.jit.ScriptModule):
        torch.jit.save(model, buffer)
        return buffer.getvalue(), SCRIPT, _shapes(model, inputs)
    if not isinstance(model, torch.nn.Module):
        raise InvalidArgument(
            "compile: expected a torch.nn.Module, a torch.jit.ScriptModule or a program of torch.export, found "
            f"{type(model).__name__}"
        )
    arguments, named, open_dims = _examples(inputs)
    captured = _captured(model, arguments, named, open_dims)
    return to_bytes(captured, arguments if isinstance(captured, torch.jit.ScriptModule) else ())


def _shapes(model: Any, inputs: Any) -> Any:
    """Returns inputs of TorchScript with shapes in place of tensors: TorchScript does not say what it was traced with."""
    if isinstance(inputs, torch.Tensor):
        inputs = (inputs,)
    if not isinstance(inputs, Mapping):
        if not any(isinstance(value, torch.Tensor) for value in inputs):
            return inputs
        # The first argument in the schema of `forward` is the module itself, which is no input.
        names = [argument.name for argument in model.forward.schema.arguments[1:]]
        inputs = dict(zip(names, inputs))
    return {n: _spec(n, v) if isinstance(v, torch.Tensor) else v for n, v in inputs.items()}


def _spec(name: str, tensor: torch.Tensor) -> str:
    """Returns a tensor's shape and type as "2x3xi64"."""
    found = type_of_dtype(np.dtype(str(tensor.dtype).removeprefix("torch."))) if tensor.dtype != torch.bfloat16 else None
    if found is None and tensor.dtype != torch.bfloat16:
        raise InvalidArgument(f"input '{name}': expected numbers or bools, found {tensor.dtype}")
    return "x".join([*(str(d) for d in tensor.shape), found.name if found else "bf16"])


def _captured(model: torch.nn.Module, arguments: tuple[Any, ...], named: dict[str, Any], open_dims: Any) -> Any:
    """Returns a module as a program or, if PyTorch is older than 2.3, as TorchScript."""
    if model.training:
        raise Unimplemented("compile: expected a module in evaluation mode, found one in training; call .eval() first")
    # The file format of torch.export changed after the versions before 2.3, so these versions use
    # TorchScript.
    version = tuple(int(part) for part in torch.__version__.split("+")[0].split(".")[:2])
    if version >= (2, 3):
        with torch.no_grad():
            return torch.export.export(model, arguments, named or None, dynamic_shapes=open_dims)
    if open_dims is not None:
        raise Unimplemented("inputs: expected shapes without open dims, as this version of PyTorch has no torch.export")
    if named:
        raise Unimplemented("inputs: expected a tuple of tensors, as this version of PyTorch has no torch.export")
    with torch.no_grad():
        return torch.jit.trace(model, arguments)


def _examples(inputs: Any) -> tuple[tuple[Any, ...], dict[str, Any], Any]:
    """Returns example arguments, those by name, and the open dims in torch.export's form (None: there are none)."""
    if isinstance(inputs, torch.Tensor):
        inputs = (inputs,)
    if not inputs:
        raise InvalidArgument(
            "compile: expected inputs for a torch.nn.Module: a tuple of tensors, or {name: tensor or shape}, found none"
        )
    if not isinstance(inputs, Mapping):
        if any(isinstance(value, str) for value in inputs):
            raise InvalidArgument("inputs: expected tensors or {name: shape}, found text")
        return tuple(inputs), {}, None
    named: dict[str, Any] = {}
    open_dims: dict[str, Any] = {}
    for name, given in inputs.items():
        if isinstance(given, torch.Tensor):
            named[name], open_dims[name] = given, None
            continue
        shape, is_open = _shape(name, given)
        # Each open dim of an input gets another example extent, 7 or more. PyTorch would treat the extents 0
        # and 1 as fixed, and dims with equal extents as one dim.
        named[name] = torch.zeros([7 + i if o else d for i, (d, o) in enumerate(zip(shape, is_open))])
        dim = getattr(torch.export, "Dim", None) if hasattr(torch, "export") else None
        open_dims[name] = {i: dim.AUTO for i, o in enumerate(is_open) if o} if dim and any(is_open) else None
        if any(is_open) and not hasattr(dim, "AUTO"):
            raise Unimplemented(f"input '{name}': expected a shape without open dims, as this PyTorch has no Dim.AUTO")
    return (), named, open_dims if any(open_dims.values()) else None


def _shape(name: str, given: Any) -> tuple[list[int], list[bool]]:
    dims: Sequence[Any] = given.split("x") if isinstance(given, str) else tuple(given)
    shape, is_open = [], []
    for dim in dims:
        is_open.append(dim in (None, "?"))
        try:
            shape.append(0 if is_open[-1] else int(dim))
        except ValueError:
            raise InvalidArgument(
                f"input '{name}': expected extents, None or '?', found {dim!r}; give a tensor for another type than f32"
            ) from None
    return shape, is_open
