"""Parts of a graph that Ember runs on tensors of PyTorch.

A part is compiled when it runs for the first time, because the tensors then say which inputs are weights. If the
compiler lacks operators, the part is split: these operators stay in eager, and the rest becomes smaller parts.
"""

from __future__ import annotations

import logging
import threading
import weakref
from typing import Any, Callable, Iterator, Sequence

import numpy as np
import torch
from torch.fx import GraphModule, Node

from .. import compiler
from ..errors import CompileError, Error, InvalidArgument
from ..module import Module
from ..session import Session
from . import graphs
from .backend import Options

log = logging.getLogger("ember.pytorch")

# Number of sets of weights for which a part is compiled with the weights as constants. Beyond it,
# weights are inputs.
MOST_SETS = 8
# Number of times that a weight's contents may change while it is compiled as a constant. After that
# it is an input.
MOST_CHANGES = 2
# For each dtype of PyTorch that NumPy lacks: types of PyTorch and NumPy with as many bits, through
# which its memory is passed.
_BITS: dict[torch.dtype, tuple[torch.dtype, Any]] = {torch.bfloat16: (torch.int16, np.uint16)}
for _name in ("float8_e4m3fn", "float8_e5m2"):
    if hasattr(torch, _name):
        _BITS[getattr(torch, _name)] = (torch.uint8, np.uint8)

_sessions: "weakref.WeakSet[Session]" = weakref.WeakSet()


def sessions() -> list[Session]:
    """Returns the sessions of all parts that are alive, for their profiles."""
    return list(_sessions)


def to_array(value: Any) -> np.ndarray:
    """Returns a tensor's memory as an array; bf16 and 8-bit floats are their bits."""
    if not isinstance(value, torch.Tensor):
        return np.array(value, np.int64)
    tensor = value.detach() if value.requires_grad else value
    bits = _BITS.get(tensor.dtype)
    if bits is not None:
        return tensor.contiguous().view(bits[0]).numpy().view(bits[1])
    return tensor.numpy(force=True) if tensor.is_neg() else tensor.numpy()


def to_tensor(array: np.ndarray, dtype: torch.dtype) -> torch.Tensor:
    """Returns an array's memory as a tensor of this type."""
    bits = _BITS.get(dtype)
    if bits is None:
        return torch.from_numpy(array)
    return torch.from_numpy(array.view(np.int16 if bits[1] is np.uint16 else np.uint8)).view(dtype)


def compiled_graph(graph: GraphModule, options: Options) -> Callable[[list[Any]], Any]:
    """Returns a function that runs a graph without gradients, in the form that AOTAutograd expects."""
    module = _with_parts(graph, options, set())
    forward = module.forward

    def run(arguments: list[Any]) -> Any:
        values = list(arguments)
        arguments.clear()
        return forward(*values)

    run._boxed_call = True  # type: ignore[attr-defined]
    return run


def _with_parts(graph: GraphModule, options: Options, lacking: set[Node]) -> GraphModule:
    """Returns the graph with its parts as submodules. `lacking`: nodes that stay in eager."""
    eager: dict[str, tuple[str, str]] = {}

    def is_compiled(node: Node) -> bool:
        if node in lacking:
            return False
        reason = _reason_for_eager(node)
        if reason:
            eager.setdefault(graphs.name_of_target(node), (node.name, reason))
        return not reason

    constants = set()
    for node in graph.graph.nodes:
        if node.op == "get_attr" and isinstance(getattr(graph, str(node.target), None), torch.Tensor):
            constants.add(node.name)
            node.meta.setdefault("val", getattr(graph, node.target))
    made, names = graphs.split(graph, is_compiled)
    for target, (name, reason) in eager.items():
        log.warning("torch.compile: %s (node '%s') stays in eager: %s", target, name, reason)
    for name in names:
        setattr(made, name, Part(getattr(made, name), options, constants))
    return made


def _reason_for_eager(node: Node) -> str:
    """Returns why a node stays in eager whatever the compiler says; "" if there is no reason."""
    if graphs.is_random(node):
        return "its random numbers are PyTorch's"
    if not graphs.is_on_host(node):
        return "its tensors are not on the CPU"
    return "" if graphs.can_be_written(node) else "torch.export cannot write it"


class _Set:
    """A compiled part with one set of weights."""

    def __init__(self, weights: dict[int, torch.Tensor], inputs: list[int], session: Session):
        self.weights = [(i, weakref.ref(w), _version(w)) for i, w in weights.items()]
        self.inputs, self.session = inputs, session

    def fits(self, arguments: Sequence[Any]) -> bool:
        """Returns True if the arguments have the weights with which the part was compiled."""
        for i, weight, version in self.weights:
            if weight() is not arguments[i] or arguments[i]._version != version:
                return False
        return True

    def changed(self, arguments: Sequence[Any]) -> list[int] | None:
        """Returns the numbers of the weights whose contents were changed; None if they are other tensors."""
        if any(weight() is not arguments[i] for i, weight, _ in self.weights):
            return None
        return [i for i, _, version in self.weights if arguments[i]._version != version]


def _version(tensor: torch.Tensor) -> int:
    """Returns the count of changes of the tensor's contents; -1 if PyTorch does not count them."""
    return -1 if tensor.is_inference() else tensor._version


class Part(torch.nn.Module):
    """A part of a graph. Thread-safe."""

    def __init__(self, graph: GraphModule, options: Options, constants: set[str]):
        super().__init__()
        self._graph, self._options, self._constants = (graph,), options, constants
        placeholders = [n for n in graph.graph.nodes if n.op == "placeholder"]
        self._names = [n.name for n in placeholders]
        results = [graphs.value_of(n) for n in graphs.outputs_of(graph)]
        self._dtypes = [r.dtype if isinstance(r, torch.Tensor) else None for r in results]
        self._returns_tuple = graphs.returns_tuple(graph)
        self._sets: list[_Set] = []
        self._changes: dict[int, int] = {}
        self._freezes = options.freeze
        self._instead: Callable[..., Any] | None = None
        self._lock = threading.Lock()

    def forward(self, *arguments: Any) -> Any:
        if self._instead is None:
            chosen = next((s for s in self._sets if s.fits(arguments)), None) or self._prepare(arguments)
            if chosen is not None:
                results = chosen.session.run([to_array(arguments[i]) for i in chosen.inputs])
                values = [
                    int(r) if dtype is None else to_tensor(r, dtype) for r, dtype in zip(results, self._dtypes)
                ]
                return tuple(values) if self._returns_tuple else values[0]
        assert self._instead is not None
        return self._instead(*arguments)

    def _prepare(self, arguments: Sequence[Any]) -> _Set | None:
        """Compiles the part for these weights. Returns None if the part is not to be compiled: see _instead."""
        with self._lock:
            for made in self._sets:
                if made.fits(arguments):
                    return made
            if self._instead is not None:
                return None
            self._forget(arguments)
            try:
                made = self._compile(arguments)
            except (Error, graphs.CannotWrite) as error:
                self._instead = self._split(error)
                return None
            self._sets.append(made)
            return made

    def _forget(self, arguments: Sequence[Any]) -> None:
        """Removes sets whose weights do not exist any more, or have changed, and counts the changes."""
        kept = []
        for made in self._sets:
            changed = made.changed(arguments)
            for i in changed or ():
                self._changes[i] = self._changes.get(i, 0) + 1
            if changed is None and all(weight() is not None for _, weight, _ in made.weights):
                kept.append(made)
        self._sets = kept
        if len(kept) >= MOST_SETS:
            log.warning("torch.compile: a graph has run with %d sets of weights; they are inputs now", len(kept) + 1)
            self._freezes, self._sets = False, []

    def _weights(self, arguments: Sequence[Any]) -> dict[int, torch.Tensor]:
        """Returns the arguments that become constants, by their numbers."""
        found = {}
        for i, value in enumerate(arguments):
            if not isinstance(value, torch.Tensor) or value.is_inference():
                continue
            is_weight = isinstance(value, torch.nn.Parameter) or hasattr(value, "_dynamo_static_input_type")
            if (is_weight or self._names[i] in self._constants) and self._changes.get(i, 0) < MOST_CHANGES:
                found[i] = value
        return found if self._freezes else {}

    def _compile(self, arguments: Sequence[Any]) -> _Set:
        (graph,) = self._graph
        weights = self._weights(arguments)
        data, inputs = graphs.to_program(graph, {self._names[i]: w for i, w in weights.items()})
        module: Module = compiler.compile(data, name="graph.pt2", format="torch-export")
        if len(module.outputs) != len(self._dtypes):
            raise InvalidArgument(f"expected {len(self._dtypes)} results of the graph, found {len(module.outputs)}")
        session = Session(module, **self._options.session)
        _sessions.add(session)
        return _Set(weights, inputs, session)

    def _split(self, error: Exception) -> Callable[..., Any]:
        """Returns the part with the nodes in eager that the error names, or all of it in eager."""
        (graph,) = self._graph
        lacking = set(_lacking(graph, error))
        computing = [n for n in graph.graph.nodes if n.op == "call_function"]
        is_split = 0 < len(lacking) < len(computing)
        count = f"{len(computing)} operator{'s' if len(computing) > 1 else ''}"
        log.warning("torch.compile: %s of a graph of %s stays in eager: %s", "a part" if is_split else "all", count, error)
        return (_with_parts(graph, self._options, lacking) if is_split else graph).forward


def _lacking(graph: GraphModule, error: Exception) -> Iterator[Node]:
    """Yields the nodes that a message names: all of an operator that Ember lacks, or one with wrong arguments."""
    message = str(error)
    named: set[str] = set()
    if isinstance(error, CompileError):
        named = {d.node.split(" (")[0] for d in error.diagnostics}  # type: ignore[attr-defined]
    elif isinstance(error, graphs.CannotWrite):
        named = {error.node}
    for node in graph.graph.nodes:
        if node.op != "call_function":
            continue
        if node.name in named or f"{graphs.name_of_target(node)} (node '" in message:
            yield node
