"""The backend of torch.compile: refuses training, and hands graphs without gradients to `Part`."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Callable, Sequence

import torch

from ..errors import InvalidArgument, Unimplemented


@dataclass(frozen=True)
class Options:
    """The options of torch.compile(model, backend="ember", options={…}).

    tier, threads, compile_in, kernel_cache: as those of ember.Session.
    freeze: parameters and buffers become constants. False: they are inputs, which takes less memory and more time.
    profile: measures each dispatch; ember.pytorch.parts.sessions() has the sessions.
    """

    tier: str = "optimized"
    threads: int = 0
    compile_in: str = "worker_if_there"
    kernel_cache: str | None = None
    freeze: bool = True
    profile: bool = False

    @property
    def session(self) -> dict[str, Any]:
        """The options of ember.Session."""
        return {
            "tier": self.tier,
            "threads": self.threads,
            "compile_in": self.compile_in,
            "kernel_cache": self.kernel_cache,
            "profile": self.profile,
        }


def _read_options(given: dict[str, Any] | None, mode: str | None) -> Options:
    if mode not in (None, "default"):
        raise Unimplemented(f"torch.compile: expected no mode with the backend 'ember', found {mode!r}; use options")
    names = [field.name for field in fields(Options)]
    for name in given or {}:
        if name not in names:
            raise InvalidArgument(f"torch.compile: option {name!r}: expected one of {', '.join(names)}")
    return Options(**(given or {}))


def _recorded(module: torch.fx.GraphModule, inputs: Sequence[Any]) -> list[str]:
    """Returns the names of the inputs and parameters whose gradients would be recorded."""
    nodes = [n for n in module.graph.nodes if n.op == "placeholder"]
    names = []
    for node, value in zip(nodes, inputs):
        if isinstance(value, torch.Tensor) and value.requires_grad:
            source = getattr(node, "_dynamo_source", None)
            names.append(source.name() if source is not None else node.name)
    return names + [name for name, value in module.named_parameters() if value.requires_grad]


def backend(
    module: torch.fx.GraphModule,
    example_inputs: Sequence[Any],
    *,
    options: dict[str, Any] | None = None,
    mode: str | None = None,
) -> Callable[..., Any]:
    """Compiles a graph of Dynamo; torch.compile(…, backend="ember") calls it. See the package's documentation."""
    try:
        from torch._dynamo.backends.common import aot_autograd
    except ImportError as error:
        raise Unimplemented(f"torch.compile: expected PyTorch 2.3 or later, found {torch.__version__}") from error
    from .parts import compiled_graph

    chosen = _read_options(options, mode)
    recorded = _recorded(module, example_inputs)

    def refuse(*_: Any) -> Any:
        more = f" and {len(recorded) - 1} more" if len(recorded) > 1 else ""
        raise Unimplemented(
            f"torch.compile: expected inference, found a graph that records gradients of {recorded[0] if recorded else '?'}"
            f"{more}; call it within torch.no_grad() or torch.inference_mode()"
        )

    def compile_graph(graph: torch.fx.GraphModule, _: Sequence[Any]) -> Callable[[list[Any]], Any]:
        return compiled_graph(graph, chosen)

    made = aot_autograd(fw_compiler=refuse, bw_compiler=refuse, inference_compiler=compile_graph)
    return made(module, example_inputs)
