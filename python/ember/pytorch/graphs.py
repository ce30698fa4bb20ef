"""FX graphs of ATen operators: writes one as a program of torch.export, and splits it into parts.

Both work on graphs without side effects, as AOTAutograd makes them.
"""

from __future__ import annotations

import builtins
import copy
import io
import math
import operator
import re
from typing import Any, Callable, Sequence

import torch
from torch.export import ExportedProgram
from torch.export.exported_program import ModuleCallEntry
from torch.export.graph_signature import (
    ExportGraphSignature,
    InputKind,
    InputSpec,
    OutputKind,
    OutputSpec,
    SymIntArgument,
    TensorArgument,
)
from torch.fx import Graph, GraphModule, Node
from torch.fx.passes.utils.fuser_utils import fuse_by_partitions

# Modules of functions on symbolic sizes, which torch.export can write.
_NUMBER_MODULES = {operator.add.__module__, math.floor.__module__, builtins.abs.__module__, "torch"}


class CannotWrite(Exception):
    """torch.export cannot write a graph. `node`: the name of the node at fault; "" if it is not known."""

    def __init__(self, text: str):
        super().__init__(" ".join(text.split(" Original exception")[0].split("\nOriginal exception")[0].split())[:300])
        found = re.match(r"Failed serializing node (\w+) in graph", text)
        self.node = found[1] if found else ""


def value_of(node: Node) -> Any:
    """Returns the fake tensor or symbolic number that describes the node's value; None if there is none."""
    return node.meta.get("val")


def can_be_written(node: Node) -> bool:
    """Returns True if torch.export can write the node: it calls an operator or a function on symbolic sizes."""
    if node.op != "call_function":
        return False
    value = value_of(node)
    if node.target is operator.getitem:
        return isinstance(node.args[0], Node)
    if isinstance(node.target, torch._ops.OpOverload):
        return value is not None
    is_number = isinstance(value, (torch.SymInt, torch.SymFloat, torch.SymBool))
    return is_number and getattr(node.target, "__module__", "") in _NUMBER_MODULES


def is_on_host(node: Node) -> bool:
    """Returns False if the node's value, or a part of it, is on a device."""
    value = value_of(node)
    values = value if isinstance(value, (list, tuple)) else [value]
    return all(v.device.type == "cpu" for v in values if isinstance(v, torch.Tensor))


def is_random(node: Node) -> bool:
    """Returns True if the node's result depends on PyTorch's random numbers, such as dropout in training."""
    if torch.Tag.nondeterministic_seeded not in getattr(node.target, "tags", ()):
        return False
    # Attention operators have the tag nondeterministic_seeded, too, but they use random numbers only if
    # dropout_p is not 0.
    parameters = [a.name for a in node.target._schema.arguments]  # type: ignore[union-attr]
    if "dropout_p" not in parameters:
        return True
    i = parameters.index("dropout_p")
    return node.kwargs.get("dropout_p", node.args[i] if i < len(node.args) else 0.0) != 0.0


def name_of_target(node: Node) -> str:
    """Returns "aten.add.Tensor", as Ember's messages name the operator."""
    target: Any = node.target
    return str(target) if isinstance(target, torch._ops.OpOverload) else f"{target.__module__}.{target.__name__}"


def split(module: GraphModule, is_compiled: Callable[[Node], bool]) -> tuple[GraphModule, list[str]]:
    """Returns the module with parts of its nodes as submodules, and the names of the submodules.

    A part has as many nodes as the order of computation permits: the graph is a sequence of levels, which are compiled
    and eager in turn, and a node is in the first level in which all that it reads is known.
    """
    level: dict[Node, int] = {}
    parts: dict[int, dict[Node, None]] = {}
    for node in module.graph.nodes:
        if node.op in ("placeholder", "get_attr", "output"):
            level[node] = 0
            continue
        # getitem, which takes one tensor of several results, is in the part of the node that made
        # them.
        if node.target is operator.getitem and isinstance(node.args[0], Node) and node.args[0].op == "call_function":
            level[node] = level[node.args[0]]
        else:
            least = max((level[n] for n in node.all_input_nodes), default=0)
            # Levels order the parts of the graph: nodes that are compiled have even levels, nodes
            # that stay in eager odd ones.
            level[node] = least + (least % 2 != (0 if is_compiled(node) else 1))
        if level[node] % 2 == 0:
            parts.setdefault(level[node], {})[node] = None
    useful = [part for _, part in sorted(parts.items()) if any(n.target is not operator.getitem for n in part)]
    fused = fuse_by_partitions(module, useful, prefix="ember_")
    names = [f"ember_{i}" for i in range(len(useful))]
    fused.recompile()
    return fused, names


def outputs_of(module: GraphModule) -> list[Node]:
    """Returns the nodes that the module returns."""
    found: Any = next(node for node in reversed(module.graph.nodes) if node.op == "output").args[0]
    return list(found) if isinstance(found, (list, tuple)) else [found]


def returns_tuple(module: GraphModule) -> bool:
    """Returns True if the module returns a tuple, and False if it returns one value."""
    found: Any = next(node for node in reversed(module.graph.nodes) if node.op == "output").args[0]
    return isinstance(found, (list, tuple))


def to_program(module: GraphModule, constants: dict[str, torch.Tensor]) -> tuple[bytes, list[int]]:
    """Writes a module as a program of torch.export.

    Returns the bytes, and the numbers of the placeholders that are the program's inputs, in order. Placeholders that
    `constants` names, and symbolic sizes that are extents of another input, are not among them.
    """
    graph = copy.deepcopy(module.graph)
    for node in graph.nodes:
        # Keeps only a node's example value. The remaining metadata describes the traced Python
        # code, which torch.export cannot write.
        node.meta = {"val": node.meta["val"]} if "val" in node.meta else {}
    _replace_sums(graph)
    placeholders = [node for node in graph.nodes if node.op == "placeholder"]
    numbers = {node: i for i, node in enumerate(placeholders)}
    _replace_numbers(graph, placeholders)
    placeholders = [node for node in graph.nodes if node.op == "placeholder"]
    output = next(node for node in reversed(graph.nodes) if node.op == "output")
    results = output.args[0] if isinstance(output.args[0], (list, tuple)) else (output.args[0],)
    output.args = (tuple(results),)
    inputs = [
        InputSpec(InputKind.BUFFER, TensorArgument(n.name), n.name, persistent=True)
        if n.name in constants
        else InputSpec(InputKind.USER_INPUT, _argument(n), None)
        for n in placeholders
    ]
    signature = ExportGraphSignature(inputs, [OutputSpec(OutputKind.USER_OUTPUT, _argument(n), None) for n in results])
    state = {name: value.detach() for name, value in constants.items()}
    buffer = io.BytesIO()
    try:
        torch.export.save(ExportedProgram(module, graph, signature, state, {}, [ModuleCallEntry("", None)]), buffer)
    except Exception as error:  # torch.export raises many types; each means that the graph cannot be written.
        raise CannotWrite(str(error)) from error
    return buffer.getvalue(), [numbers[n] for n in placeholders if n.name not in constants]


def _replace_sums(graph: Graph) -> None:
    """Replaces sums of several symbolic sizes, which programs cannot have, by sums of two."""
    function = getattr(torch, "sym_sum", None)
    for node in list(graph.nodes):
        if node.op != "call_function" or function is None or node.target is not function:
            continue
        terms = list(node.args[0])
        with graph.inserting_before(node):
            total, value = terms[0], _number(terms[0])
            for term in terms[1:]:
                total, value = graph.call_function(operator.add, (total, term)), value + _number(term)
                total.meta["val"] = value
        node.replace_all_uses_with(total)
        graph.erase_node(node)


def _number(term: Any) -> Any:
    return value_of(term) if isinstance(term, Node) else term


def _argument(node: Node) -> Any:
    is_number = isinstance(value_of(node), torch.SymInt)
    return SymIntArgument(node.name) if is_number else TensorArgument(node.name)


def _replace_numbers(graph: Graph, placeholders: Sequence[Node]) -> None:
    """Replaces symbolic sizes among the inputs by extents of tensors, because programs cannot have such inputs.

    A number that is not an extent becomes a tensor without dims, which the program reads.
    """
    tensors = [n for n in placeholders if isinstance(value_of(n), torch.Tensor)]
    extents: dict[Any, tuple[Node, int]] = {}
    for tensor in tensors:
        for axis, extent in enumerate(value_of(tensor).shape):
            if isinstance(extent, torch.SymInt):
                extents.setdefault(extent.node.expr, (tensor, axis))
    first = next(n for n in graph.nodes if n.op != "placeholder")
    for node in placeholders:
        value = value_of(node)
        if not isinstance(value, torch.SymInt):
            continue
        found = extents.get(value.node.expr)
        with graph.inserting_before(first):
            if found is not None:
                new = graph.call_function(torch.ops.aten.sym_size.int, found)
                new.meta["val"] = value
                node.replace_all_uses_with(new)
                graph.erase_node(node)
                continue
            new = graph.call_function(torch.ops.aten._local_scalar_dense.default, (node,))
        new.meta["val"] = value
        node.replace_all_uses_with(new, delete_user_cb=lambda user, new=new: user is not new)
        mode = next((value_of(t).fake_mode for t in tensors if hasattr(value_of(t), "fake_mode")), None)
        node.meta["val"] = torch.empty((), dtype=torch.int64) if mode is None else _fake_number(mode)


def _fake_number(mode: Any) -> torch.Tensor:
    with mode:
        return torch.empty((), dtype=torch.int64)

