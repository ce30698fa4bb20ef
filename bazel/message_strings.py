"""Finds the texts for users in C++ files: messages and help, which are string literals.

    for literal in message_strings(text):
        literal.line, literal.text   # 12, "expected a model, found "

Adjacent literals are one. Only literals with at least three words are returned. Raw strings are programs or
data and are left out.
"""

import collections
import re

Literal = collections.namedtuple("Literal", "line text")

_TOKEN = re.compile(
    r"(?P<comment>//[^\n]*|/\*.*?\*/)"
    r'|(?P<raw>R"(?P<tag>[^()\\\s]{0,16})\(.*?\)(?P=tag)")'
    r'|(?P<string>"(?:\\.|[^"\\\n])*")'
    r"|(?P<space>\s+|\\\n)"
    r"|'(?:\\.|[^'\\\n])+'"
    r"|[A-Za-z_0-9](?:'?[A-Za-z_0-9])*|.",
    re.DOTALL,
)
_WORD = re.compile(r"[A-Za-z][a-z'’-]*")
_WORDS_OF_PROSE = 3


def _unescaped(literal):
    return re.sub(r'\\(["\\nt])', lambda m: {"n": "\n", "t": " "}.get(m.group(1), m.group(1)), literal[1:-1])


def _is_prose(text):
    return sum(1 for word in text.split() if _WORD.fullmatch(word.strip("'\",.;:()?!"))) >= _WORDS_OF_PROSE


def message_strings(text):
    """Yields the literals of a C++ file that are prose."""
    parts, first, line = [], 0, 1
    for match in _TOKEN.finditer(text):
        token = match.group()
        if match.group("string"):
            first = first if parts else line
            parts.append(_unescaped(token))
        elif parts and not match.group("space") and not match.group("comment"):
            whole = "".join(parts)
            parts = []
            if _is_prose(whole):
                yield Literal(first, whole)
        line += token.count("\n")
