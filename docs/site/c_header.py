"""Turns a C or C++ header into a Markdown page: the text of its comments, and its declarations as code.

    page = header_page("ember.h", text, note="Include it as <ember.h>.")

The comment at the top is the introduction. Each declaration outside of a struct or class is a section with its comment as
text. A table of functions (a struct whose name ends with Api) and a class have a section for each member with a comment or a
name of its own. Other structs and enums are shown whole.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

# Lines that open or close a scope which holds declarations of the file's own level.
_TRANSPARENT = re.compile(r'\s*((inline )?namespace [\w: ]*\{|extern "C" \{|\}\s*(//.*namespace.*|/\*.*\*/)?)\s*$')
_SPLIT = re.compile(
    r"^\s*(?:typedef )?struct (\w+Api) \{|^\s*(?:template <[^>]*>\s*)?class (?:\[\[\w+\]\] )?(\w+)[^;]*\{", re.S
)


@dataclass
class Item:
    comment: list[str] = field(default_factory=list)
    code: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "\n".join(self.code)


def comment_text(lines: list[str]) -> str:
    """Returns the text of a comment without its marks. Lines that are indented further stay so: they are code."""
    text = []
    for line in lines:
        line = re.sub(r"^\s*(//|/\*+| ?\*(?!/))? ?", "", line) if line.strip() else ""
        text.append(re.sub(r"\s*\*/\s*$", "", line).rstrip())
    return "\n".join(text).strip("\n")


def _is_comment(line: str, inside: bool) -> bool:
    return inside or line.lstrip().startswith(("//", "/*"))


def _without_comments(line: str, in_comment: bool) -> tuple[str, bool]:
    """Returns a line without comments and texts, and if a comment continues after it."""
    if in_comment:
        if "*/" not in line:
            return "", True
        line = line.split("*/", 1)[1]
    line = re.sub(r'"(\\.|[^"\\])*"|/\*.*?\*/|//.*', "", line)
    return (line.split("/*", 1)[0], True) if "/*" in line else (line, False)


def items_of(lines: list[str]) -> list[Item]:
    """Splits lines into declarations, each with the comment before it."""
    items, item, depth, inside, in_comment = [], Item(), 0, False, False
    for line in lines:
        stripped = line.strip()
        if not item.code and _is_comment(line, inside):
            if not inside and item.comment and item.comment[-1].endswith("*/"):
                item = Item()
            item.comment.append(line)
            inside = stripped.startswith("/*") and "*/" not in stripped if not inside else "*/" not in stripped
            continue
        if not item.code and (not stripped or _TRANSPARENT.match(line)):
            # A comment that a blank line follows describes no declaration.
            item = Item()
            continue
        if not item.code and stripped.startswith("#"):
            if re.match(r"#define [A-Z]\w+ \S", stripped) and not stripped.endswith("\\") and "__" not in stripped:
                items.append(Item(item.comment, [line]))
            item = Item()
            continue
        if not item.code and re.match(r"(public|private|protected):$", stripped):
            item = Item([], [line])
            items.append(item)
            item = Item()
            continue
        item.code.append(line)
        bare, in_comment = _without_comments(line, in_comment)
        depth += bare.count("{") + bare.count("(") - bare.count("}") - bare.count(")")
        if depth == 0 and not in_comment and bare.rstrip().endswith((";", "}")):
            items.append(item)
            item = Item()
    return items


def name_of(code: str) -> str:
    bare = re.sub(r"/\*.*?\*/|//[^\n]*", "", code, flags=re.S)
    head = bare.split("{", 1)[0]
    for pattern in (
        r"#define (\w+)",
        r"^\s*(?:template\s*<[^{]*?>\s*)?(?:typedef )?(?:enum class|enum|struct|class|union) (?:\[\[\w+\]\] )?(\w+(?:<\w+>)?)",
        r"\(\*(\w+)\)\(",
        r"\b(operator\S+)\(",
        r"(~?\w+)\(",
        r"\busing (\w+)",
        r"(\w+)\s*(?:\[[^\]]*\])?\s*(?:=[^;]*)?(?:;|$)",
    ):
        match = re.search(pattern, head)
        if match:
            return match.group(1)
    return ""


def _code(lines: list[str]) -> str:
    indent = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    return "```cpp\n%s\n```\n" % "\n".join(line[indent:] for line in lines)


def escaped(text: str) -> str:
    """Returns prose whose angle brackets, stars and underscores are plain characters; indented lines are code already."""
    lines = []
    for line in text.split("\n"):
        lines.append(line if line.startswith("  ") else re.sub(r"([<>*_\[\]])", r"\\\1", line))
    return "\n".join(lines)


def prose(comment: str) -> str:
    """Turns the text of a comment into Markdown: lines that are indented by two or more become code."""
    out, code = [], []
    for line in comment.split("\n") + ["end"]:
        if line.startswith("  ") or (code and not line.strip()):
            code.append(line)
            continue
        if code:
            while not code[-1].strip():
                code.pop()
            out += ["", _code(code)]
            code = []
        out.append(escaped(line))
    return "\n".join(out[:-1]).strip("\n") + "\n"


def _members(item: Item) -> list[Item]:
    """Returns the public members of a struct or class."""
    start = next(i for i, line in enumerate(item.code) if "{" in line)
    is_public, members = "class" not in " ".join(item.code[: start + 1]), []
    for member in items_of(item.code[start + 1 : -1]):
        access = re.match(r"\s*(public|private|protected):", member.text)
        if access:
            is_public = access.group(1) == "public"
        elif is_public and name_of(member.text) not in ("", "struct_size", "version"):
            if members and not member.comment and not re.search(r"\(\*\w+\)\(", member.text):
                members[-1].code += member.code
            else:
                members.append(member)
    return members


def _section(level: int, item: Item, prefix: str = "") -> str:
    comment = comment_text(item.comment)
    name = name_of(item.text)
    return "%s %s\n\n%s%s" % ("#" * level, prefix + name, prose(comment) + "\n" if comment else "", _code(item.code))


def header_page(name: str, text: str, note: str, example: str = "cpp") -> str:
    lines = text.split("\n")
    end = next(i for i, line in enumerate(lines) if line.startswith("#ifndef"))
    page = "# %s\n\n%s\n\n%s\n" % (name, note, prose(comment_text(lines[:end])).replace("```cpp", "```" + example))
    body = [line for line in lines[end:]]
    seen: dict[str, int] = {}
    for item in items_of(body):
        split = _SPLIT.match(item.text)
        title = name_of(item.text)
        if (
            not title
            or title == "EMBER_HAS_EXCEPTIONS"
            or re.match(r"\s*(static_assert|class \w+;|using namespace)", item.text)
        ):
            continue
        if not split or len(item.code) < 12:
            # Declarations of one line without comments follow the section before.
            if not item.comment and seen and len(item.code) == 1 and item.text.startswith("typedef"):
                page = page.rstrip("\n")
                page = (
                    page[: -len("```")] + item.code[0] + "\n```\n" if page.endswith("```") else page + "\n" + _code(item.code)
                )
                continue
            seen[title] = 1
            page += "\n" + _section(2, item)
            continue
        seen[title] = 1
        comment = comment_text(item.comment)
        page += "\n## %s\n" % title + ("\n%s\n" % prose(comment) if comment else "")
        for member in _members(item):
            page += "\n" + _section(3, member, "" if title.endswith("Api") else title + "::")
    return page
