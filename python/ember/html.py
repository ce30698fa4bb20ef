"""Tables in HTML for notebooks. All texts are escaped: names come from models, which may be from strangers.

>>> "<b>" in table(("name",), [("<b>",)])
False
"""

from __future__ import annotations

from html import escape
from typing import Iterable, Sequence

_STYLE = "padding:2px 8px;vertical-align:top;text-align:"


class Share(float):
    """A part of a whole, from 0 to 1: it is shown as a percentage, with a bar behind it."""


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float))


def _text(value: object) -> str:
    if isinstance(value, Share):
        return f"{100 * value:.1f}%"
    return f"{value:,.3f}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)


def _cell(tag: str, value: object, is_right: bool) -> str:
    style = _STYLE + ("right" if is_right else "left")
    if isinstance(value, Share):
        # The colour is transparent, so that it suits light and dark pages.
        bar = f"rgba(66,133,244,0.3) {100 * value:.1f}%,transparent {100 * value:.1f}%"
        style += f";background:linear-gradient(90deg,{bar})"
    return f'<{tag} style="{style}">{escape(_text(value))}</{tag}>'


def table(head: Sequence[str], rows: Iterable[Sequence[object]], foot: str = "") -> str:
    """Returns a table. Columns of numbers, and their heads, are aligned to the right."""
    kept = [tuple(row) for row in rows]
    right = [bool(kept) and all(_is_number(row[i]) for row in kept) for i in range(len(head))]
    cells = ["".join(_cell("td", value, r) for value, r in zip(row, right)) for row in kept]
    lines = ["<table>", "<thead><tr>" + "".join(_cell("th", h, r) for h, r in zip(head, right)) + "</tr></thead>"]
    lines += ["<tbody>", *(f"<tr>{row}</tr>" for row in cells), "</tbody></table>"]
    if foot:
        lines.append(f'<div style="padding:2px 8px">{escape(foot)}</div>')
    return "\n".join(lines)
