"""The methods of stages that apply primitives. They are made from the library's table: a new primitive is a new method.

The file stage_primitives.pyi has their types. A test compares it with stub(); this command writes it again:

    python3 -c "from ember.te import stage_primitives as p; p.write_stub('python/ember/te/stage_primitives.pyi')"
"""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any, Callable

from ..element_types import BY_NAME
from ..errors import InvalidArgument
from .dispatches import element_type
from .primitives import Operand, Primitive, primitives

# The types of arguments, by the kind of the operand. A kind without a row fails a test.
TYPES = {
    "stage": "AnyStage",
    "loop": "AnyLoop",
    "buffer": "AnyBuffer",
    "number": "int",
    "type": "Any",
    "dim": "int",
    "range": "tuple[int, int] | str",
    "layout": "int | str | Dim",
    "digit": "Loop | Digit | str",
    "pieces": "Digit | str",
    "load ahead": "str",
    "hidden blocks": "bool",
}


def _name_of(value: Any) -> str:
    return (value if isinstance(value, str) else value.name).removeprefix("%")


def _word(operand: Operand, value: Any) -> str:
    """Returns the word for an argument. The library checks what the word means."""
    if operand.kind in ("stage", "buffer"):
        return "%" + _name_of(value)
    if operand.kind == "loop":
        return _name_of(value)
    if operand.kind == "type":
        return value if value in BY_NAME else element_type(operand.name, value).name
    if operand.kind == "range" and isinstance(value, tuple):
        return f"{value[0]}..{value[1]}"
    if operand.kind == "hidden blocks":
        return operand.name if value else ""
    return str(value)


class _Method:
    """Makes the line of a step from the arguments of a call."""

    def __init__(self, primitive: Primitive):
        self.primitive = primitive
        # The method's arguments are the primitive's operands without the first one, which is the
        # method's own stage. A stage operand before a loop operand is left out, too: it follows
        # from the loop that is passed.
        self.operands = []
        for i, operand in enumerate(primitive.operands[1:], 1):
            following = primitive.operands[i + 1] if i + 1 < len(primitive.operands) else None
            if operand.kind != "stage" or following is None or following.kind != "loop":
                self.operands.append((operand, primitive.operands[i - 1].kind == "stage" and i > 1))
        self.signature = inspect.Signature(self._parameters())

    def _parameters(self) -> list[inspect.Parameter]:
        make = inspect.Parameter
        made, named = [make("self", make.POSITIONAL_OR_KEYWORD)], []
        has_repeated = any(operand.is_repeated for operand, _ in self.operands)
        for operand, _ in self.operands:
            if operand.is_repeated:
                made.append(make(operand.name, make.VAR_POSITIONAL))
            elif operand.is_optional and has_repeated:
                # An optional operand is a keyword argument if a repeated operand takes all further
                # positional arguments.
                named.append(make(operand.name, make.KEYWORD_ONLY, default=None))
            else:
                default = None if operand.is_optional else make.empty
                made.append(make(operand.name, make.POSITIONAL_OR_KEYWORD, default=default))
        named += [make(r.name, make.KEYWORD_ONLY, default=None) for r in self.primitive.results]
        return made + named

    def words(self, stage: Any, arguments: dict[str, Any]) -> list[str]:
        made = [self.primitive.name, "%" + stage.name]
        for operand, has_stage in self.operands:
            value = arguments.get(operand.name)
            for item in value if operand.is_repeated and value is not None else [value]:
                if item is None:
                    if operand.is_optional:
                        continue
                    raise InvalidArgument(f"{self.primitive.name}: expected '{self.primitive.usage}', found None")
                if has_stage:
                    made.append("%" + _stage_of(self.primitive, item))
                elif operand.kind == "loop":
                    _check_stage(self.primitive, stage, item)
                word = _word(operand, item)
                if word:
                    made.append(word)
        return made

    def results(self, stage: Any, arguments: dict[str, Any]) -> list[str]:
        names = []
        for result in self.primitive.results:
            names.append(arguments.get(result.name) or self._default(result, stage, arguments, names))
        return names

    def _default(self, result: Operand, stage: Any, arguments: dict[str, Any], names: list[str]) -> str:
        """Returns the default name: "jo" and "ji" for the loops of a split of j, "a_copy" for a copy of a."""
        if result.kind == "stage":
            buffers = [arguments[o.name] for o, _ in self.operands if o.kind == "buffer"]
            base = f"{_name_of(buffers[0] if buffers else stage)}_{result.name}"
            taken = {s.name for s in stage.schedule.stages}
        else:
            loops = {o.name: _name_of(arguments[o.name]) for o, _ in self.operands if o.kind == "loop"}
            # A result whose name begins with that of a loop operand is named after the loop. For
            # example tile's result io, of operand i, is "jo" for the loop j.
            base = ""
            for name, loop in loops.items():
                if result.name.startswith(name):
                    base = base or loop + result.name.removeprefix(name)
            if not base:
                first = next(iter(loops.values()))
                base = "_".join(loops.values()) if len(self.primitive.results) == 1 else first + result.name[0]
            taken = {loop.name for loop in stage.loops}
        name, number = base, 1
        while name in taken or name in names:
            name, number = f"{base}{number}", number + 1
        return name

    def __call__(self, stage: Any, *arguments: Any, **named: Any) -> Any:
        bound = self.signature.bind(stage, *arguments, **named).arguments
        results = self.results(stage, bound)
        line = self.words(stage, bound) + (["->", *results] if results else [])
        stage.schedule.apply(" ".join(line))
        made = []
        for result, name in zip(self.primitive.results, results):
            made.append(stage.schedule[name] if result.kind == "stage" else stage[name])
        return None if not made else made[0] if len(made) == 1 else tuple(made)


def _stage_of(primitive: Primitive, loop: Any) -> str:
    stage = getattr(loop, "stage", None)
    if stage is None:
        raise InvalidArgument(f"{primitive.name}: expected a loop of a stage, as in s[y]['i'], found {loop!r}")
    return stage.name


def _check_stage(primitive: Primitive, stage: Any, loop: Any) -> None:
    found = getattr(loop, "stage", None)
    if found is not None and found.name != stage.name:
        raise InvalidArgument(
            f"{primitive.name}: expected a loop of %{stage.name}, found the loop {loop.name} of %{found.name}"
        )


class StagePrimitives:
    """A method for each primitive."""


def _function(primitive: Primitive) -> Callable[..., Any]:
    method = _Method(primitive)

    def apply(self: Any, *arguments: Any, **named: Any) -> Any:
        return method(self, *arguments, **named)

    apply.__name__ = primitive.name
    apply.__qualname__ = f"Stage.{primitive.name}"
    apply.__doc__ = f"{_sentence(primitive.doc)}\n\nThe step: {primitive.name} {primitive.usage}"
    apply.__signature__ = method.signature  # type: ignore[attr-defined]
    return apply


def _sentence(doc: str) -> str:
    return doc[:1].upper() + doc[1:] + "."


for _primitive in primitives():
    setattr(StagePrimitives, _primitive.name, _function(_primitive))


# --- the stub ------------------------------------------------------------------
_HEAD = '''\
"""The types of the methods that stage_primitives.py makes. Written by stage_primitives.write_stub."""

from typing import Any

from .dispatches import Buffer
from .expressions import Axis, Tensor
from .schedules import Digit, Dim, Loop, Stage

AnyLoop = Loop | Axis | str
AnyStage = Stage | Tensor | str
AnyBuffer = Stage | Tensor | Buffer | str
TYPES: dict[str, str]

def stub() -> str: ...
def write_stub(path: str) -> None: ...

class StagePrimitives:
'''


def _parameter(parameter: inspect.Parameter, kinds: dict[str, str]) -> str:
    kind = kinds[parameter.name]
    if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
        return f"*{parameter.name}: {kind}"
    return f"{parameter.name}: {kind}" + ("" if parameter.default is parameter.empty else " | None = None")


def stub() -> str:
    """Returns the text of stage_primitives.pyi."""
    text = _HEAD
    for primitive in primitives():
        kinds = {o.name: TYPES[o.kind] for o in primitive.operands}
        kinds.update({o.name: "str" for o in primitive.results})
        words, has_star = ["self"], False
        for parameter in list(_Method(primitive).signature.parameters.values())[1:]:
            has_star |= parameter.kind is inspect.Parameter.VAR_POSITIONAL
            if parameter.kind is inspect.Parameter.KEYWORD_ONLY and not has_star:
                words.append("*")
                has_star = True
            words.append(_parameter(parameter, kinds))
        results = ["Stage" if o.kind == "stage" else "Loop" for o in primitive.results]
        back = "None" if not results else results[0] if len(results) == 1 else f"tuple[{', '.join(results)}]"
        line = f"    def {primitive.name}({', '.join(words)}) -> {back}: ..."
        if len(line) > 120:
            parameters = "".join(f"        {word},\n" for word in words)
            line = f"    def {primitive.name}(\n{parameters}    ) -> {back}: ..."
        text += line + "\n"
    return text


def write_stub(path: str) -> None:
    """Writes the stub to a file."""
    Path(path).write_text(stub(), encoding="utf-8")
