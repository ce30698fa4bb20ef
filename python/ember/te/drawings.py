"""Draws the loops of schedules: as text for the messages of refused steps, as HTML for notebooks.

>>> from ember import te
>>> s = te.schedule(te.parse("y[i] = sum(k) a[i, k] * x[k]", a=(4, 8), x=(8,)))
>>> ko, ki = s["y"].split("k", 4)
>>> s["y"].unroll(ki)
>>> print(text(s))
for i < 4
  for ko < 2            reduction
    unrolled ki < 4     reduction
      %y

A stage that is computed inside a loop of another one is drawn there.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .schedules import Loop, Schedule, Stage


@dataclass(frozen=True)
class Refusal:
    """A step that was refused, and why."""

    step: str
    reason: str

    def names(self, stage: str, loop: str) -> bool:
        """Returns True if the step names this loop of this stage."""
        words = self.step.split("->")[0].split()
        return "%" + stage in words and any(loop in word.replace("/", "%").split("%") for word in words[2:])


@dataclass(frozen=True)
class Row:
    """One line of a drawing: a loop, or a stage inside its loops."""

    depth: int
    kind: str  # kind of the loop ("serial", "parallel", ...); "" if the line is a stage
    name: str
    extent: int | None = None  # number of iterations of the loop; None if it depends on the dims of a call
    is_reduction: bool = False
    is_refused: bool = False  # True if the schedule's refused step names this loop

    def words(self) -> str:
        if not self.kind:
            return f"%{self.name}"
        kind = "for" if self.kind == "serial" else self.kind
        return f"{kind} {self.name}" + ("" if self.extent is None else f" < {self.extent}")


def rows(schedule: Schedule, refusal: Refusal | None = None) -> list[Row]:
    """Returns the lines of a schedule's drawing, from the outermost loop inwards."""
    stages = schedule.stages
    inside: dict[tuple[str, str], list[Stage]] = {}
    outermost = []
    for stage in stages:
        loop = stage.attached
        if loop is None:
            outermost.append(stage)
        else:
            inside.setdefault((loop.stage.name, loop.name), []).append(stage)
    made: list[Row] = []

    def draw(stage: Stage, depth: int) -> None:
        loops: list[Loop] = stage.loops
        for i, loop in enumerate(loops):
            is_refused = refusal is not None and refusal.names(stage.name, loop.name)
            made.append(Row(depth + i, loop.mark, loop.name, loop.extent, loop.is_reduction, is_refused))
            for attached in inside.get((stage.name, loop.name), []):
                draw(attached, depth + i + 1)
        made.append(Row(depth + len(loops), "", stage.name))

    for stage in outermost:
        draw(stage, 0)
    return made


def text(schedule: Schedule, refusal: Refusal | None = None) -> str:
    """Returns the drawing as lines of text. An arrow points at the loops that the refused step names."""
    lines = []
    for row in rows(schedule, refusal):
        line = "  " * row.depth + row.words()
        if row.is_reduction:
            line = f"{line:<23} reduction"
        if row.is_refused:
            line = f"{line:<33} <-- {refusal.step.split()[0] if refusal else ''}"
        lines.append(line)
    return "\n".join(lines)


# Colours are transparent, so that they suit light and dark pages.
_COLOURS = {
    "serial": "rgba(128,128,128,0.15)",
    "parallel": "rgba(66,133,244,0.3)",
    "unrolled": "rgba(251,188,4,0.35)",
    "vector": "rgba(52,168,83,0.3)",
}
_OTHER = "rgba(160,80,220,0.25)"  # colour of the remaining kinds of loops: invocations, subgroups, matrix instructions
_RED = "rgba(234,67,53,{})"
_CODE = "font-family:monospace;white-space:pre;line-height:1.6"


def _line(row: Row, refusal: Refusal | None) -> str:
    style = f"padding-left:{2 * row.depth}ch"
    if not row.kind:
        return f'<div style="{style}"><b>{escape(row.words())}</b></div>'
    kind, rest = row.words().split(" ", 1)
    label = f"background:{_COLOURS.get(row.kind, _OTHER)};border-radius:3px;padding:0 0.5ch"
    made = f'<span style="{label}">{escape(kind)}</span> {escape(rest)}'
    if row.is_reduction:
        made += ' <span style="opacity:0.6">reduction</span>'
    if row.is_refused and refusal is not None:
        name = escape(refusal.step.split()[0])
        label = f"background:{_RED.format(0.25)};border-radius:3px;padding:0 0.5ch"
        made += f' <span style="{label}">&larr; {name}</span>'
    return f'<div style="{style}">{made}</div>'


def _column(head: str, body: str) -> str:
    return (
        '<td style="text-align:left;vertical-align:top;padding:2px 24px 2px 8px">'
        f'<div style="opacity:0.6;padding-bottom:4px">{head}</div><div style="{_CODE}">{body}</div></td>'
    )


def html(schedule: Schedule, refusal: Refusal | None = None) -> str:
    """Returns the drawing beside the schedule's steps, and the refused step with its reason below."""
    loops = "".join(_line(row, refusal) for row in rows(schedule, refusal))
    steps = "".join(f"<div>{escape(step)}</div>" for step in schedule.steps) or "<div>none yet</div>"
    columns = _column(f"loops of @{escape(schedule.dispatch.name)}", loops) + _column("steps", steps)
    row = f'<tr style="background:none">{columns}</tr>'
    made = f'<table style="border:none"><tbody>{row}</tbody></table>'
    if refusal is not None:
        made += (
            f'<div style="border-left:4px solid {_RED.format(0.9)};background:{_RED.format(0.1)};padding:4px 12px;'
            f'margin:4px 8px"><span style="{_CODE}">{escape(refusal.step)}</span> was refused: {escape(refusal.reason)}.'
            " The schedule is as it was before.</div>"
        )
    return made
