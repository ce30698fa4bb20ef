"""The primitives of schedules, as the library's table has them.

>>> from ember import te
>>> split = next(p for p in te.primitives() if p.name == "split")
>>> split.usage, split.keeps_rounding
('%stage loop factor -> outer inner', True)
>>> [(o.name, o.kind) for o in split.operands]
[('stage', 'stage'), ('loop', 'loop'), ('factor', 'number')]
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

from .._native import lib, text
from .library import info


@dataclass(frozen=True)
class Operand:
    """An operand of a primitive: one word of a step's line, or several if it is repeated."""

    name: str
    kind: str  # "stage", "loop", "number", ...: a kind of operand that jit/schedule/core/operands.h lists
    is_optional: bool
    is_repeated: bool


@dataclass(frozen=True)
class Primitive:
    """A transformation of loops. A step of a schedule applies it."""

    name: str
    usage: str
    doc: str
    keeps_rounding: bool
    operands: tuple[Operand, ...]
    results: tuple[Operand, ...]  # the loops or stages that the step makes, which its line names


def _words(index: int, count: int) -> tuple[Operand, ...]:
    found = []
    for i in range(count):
        operand = info("EmberTeOperandInfo")
        lib.te_primitive_operand(index, i, operand)
        found.append(
            Operand(text(operand.name), text(operand.kind), bool(operand.is_optional), bool(operand.is_repeated))
        )
    return tuple(found)


@functools.lru_cache(maxsize=1)
def primitives() -> tuple[Primitive, ...]:
    """Returns all primitives."""
    made: list[Primitive] = []
    found = info("EmberTePrimitiveInfo")
    while lib.te_primitive_info(len(made), found) == 0:
        count = found.operand_count
        words = _words(len(made), count + found.result_count)
        made.append(
            Primitive(
                text(found.name),
                text(found.usage),
                text(found.doc),
                bool(found.keeps_rounding),
                words[:count],
                words[count:],
            )
        )
    return tuple(made)
