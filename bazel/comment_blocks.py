"""Finds the comments of source files.

    for block in comment_blocks(path, text): print(block.line, block.text)

A block is a run of comment lines that a reader takes as one text: lines that
begin with the marker, one below the other, or a comment behind code together
with the comment lines that continue it. Text inside of strings is no comment.
"""

import dataclasses
import re


@dataclasses.dataclass
class Block:
    """One comment."""

    path: str
    line: int  # number of the block's first line, counted from 1
    last: int  # Last line.
    text: str  # text of the comment without its markers; lines are joined by newlines
    trailing: bool  # True if code comes before the comment on its first line.


# Matches a string, a raw string, a character or a comment of C++, whichever begins first.
_CC = re.compile(
    r'R"(?P<tag>[^()\\\s]{0,16})\(.*?\)(?P=tag)"'
    r'|"(?:\\.|[^"\\\n])*"'
    r"|(?<![0-9A-Fa-f])'(?:\\.|[^'\\\n])+'"
    r"|//[^\n]*"
    r"|/\*.*?\*/",
    re.DOTALL,
)

# Matches a string or a comment of Python, Starlark, BUILD files and shell scripts.
_HASH = re.compile(
    r'"""(?:\\.|.)*?"""'
    r"|'''(?:\\.|.)*?'''"
    r'|"(?:\\.|[^"\\])*"'
    r"|'[^'\n]*'"
    r"|(?:(?<=\s)|^)\#[^\n]*",
    re.DOTALL | re.MULTILINE,
)

_SHELL = re.compile(r"(?:(?<=\s)|^)\#[^\n]*", re.MULTILINE)

CC_ENDINGS = (".h", ".hpp", ".cc", ".c", ".cpp", ".mjs", ".js", ".ts", ".proto", ".fbs")
HASH_ENDINGS = (".py", ".bzl", "BUILD", "WORKSPACE", ".bazelrc")
SHELL_ENDINGS = (".sh",)
SHELL_FILES = ("dev", ".ci/run")


def has_comments(path):
    """True if comments of files with this name can be found."""
    return path.endswith(CC_ENDINGS + HASH_ENDINGS + SHELL_ENDINGS) or path in SHELL_FILES or path.startswith("tools/dev/")


def _comments(path, text):
    """Yields (offset, end, words) of each comment, line by line."""
    if path.endswith(CC_ENDINGS):
        pattern, markers = _CC, ("//", "/*")
    elif path.endswith(HASH_ENDINGS):
        pattern, markers = _HASH, ("#",)
    else:
        pattern, markers = _SHELL, ("#",)
    for match in pattern.finditer(text):
        token = match.group()
        if not token.startswith(markers) or token.startswith("#!"):
            continue
        if token.startswith("/*"):
            body = re.sub(r"^\s*\* ?", "", token[2:-2], flags=re.MULTILINE).strip("* \n")
        else:
            body = re.sub(r"^(//[/!]?<?|#) ?", "", token)
        yield match.start(), match.end(), body


def without_comments(path, text):
    """Returns the code of a file: its text with each comment left out."""
    kept, last = [], 0
    for start, end, _ in _comments(path, text):
        kept.append(text[last:start])
        last = end
    return "".join(kept) + text[last:]


def comment_blocks(path, text):
    """Returns the blocks of a file, in order."""
    blocks = []
    starts = [0] + [m.end() for m in re.finditer("\n", text)]
    line = 0
    column_of_last = -1
    for start, end, body in _comments(path, text):
        while line + 1 < len(starts) and starts[line + 1] <= start:
            line += 1
        column = start - starts[line]
        trailing = text[starts[line]:start].strip() != ""
        number = line + 1
        last = number + text.count("\n", start, end)
        previous = blocks[-1] if blocks else None
        if (previous and not trailing and previous.last + 1 == number
                and column == column_of_last and "/*" not in text[start:start + 2]):
            previous.last = last
            previous.text += "\n" + body
        else:
            blocks.append(Block(path, number, last, body, trailing))
        column_of_last = column
    return blocks
