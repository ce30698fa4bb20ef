"""Tables in HTML for notebooks. All texts are escaped: names come from models, which may be from strangers.

>>> "<b>" in table(("name",), [("<b>",)])
False
"""

from __future__ import annotations

from html import escape
from typing import Iterable, Sequence

_STYLE = "text-align:left;padding:2px 8px;vertical-align:top"


def _cell(tag: str, value: object) -> str:
    style = _STYLE.replace("left", "right") if isinstance(value, (int, float)) else _STYLE
    shown = f"{value:,.3f}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)
    return f'<{tag} style="{style}">{escape(shown)}</{tag}>'


def table(head: Sequence[str], rows: Iterable[Sequence[object]], foot: str = "") -> str:
    """Returns a table. Numbers are aligned to the right."""
    lines = ["<table>", "<thead><tr>" + "".join(_cell("th", h) for h in head) + "</tr></thead>", "<tbody>"]
    lines += ["<tr>" + "".join(_cell("td", value) for value in row) + "</tr>" for row in rows]
    lines.append("</tbody></table>")
    if foot:
        lines.append(f"<p>{escape(foot)}</p>")
    return "\n".join(lines)
