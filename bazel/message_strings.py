"""Finds the string literals of C++ files that are prose: messages and help texts.

    for literal in message_strings(path, text):
        literal.line, literal.text   # 12, "expected a model, found "

Adjacent literals are one. A literal is prose if it has at least three words. Raw strings are programs or
data and are left out.
"""

import collections
import re

Literal = collections.namedtuple("Literal", "line text")

TOKEN = re.compile(
    r'//[^\n]*|/\*.*?\*/'
    r'|(?P<raw>(?:u8|u|U|L)?R"(?P<tag>[^(\s]*)\(.*?\)(?P=tag)")'
    r'|(?P<string>"(?:[^"\\\n]|\\.)*")'
    r"|'(?:[^'\\\n]|\\.)+'"
    r"|(?P<space>\s+)|(?P<other>[A-Za-z_0-9](?:'?[A-Za-z_0-9])*|.)", re.S)
WORD = re.compile(r"[A-Za-z][a-z'’-]*")
WORDS_OF_PROSE = 3


def unescaped(literal):
    return re.sub(r'\\(["\\nt])', lambda m: {"n": "\n", "t": " "}.get(m.group(1), m.group(1)), literal[1:-1])


def is_prose(text):
    return len([w for w in text.split() if WORD.fullmatch(w.strip("'\",.;:()?!"))]) >= WORDS_OF_PROSE


def message_strings(path, text):
    """Yields the prose literals of a C++ file."""
    parts, start, line = [], 0, 1
    for match in TOKEN.finditer(text):
        token = match.group()
        if match.group("string"):
            if not parts:
                start = line
            parts.append(unescaped(token))
        elif parts and (match.group("other") or match.group("raw") or token.startswith("'")):
            if is_prose("".join(parts)):
                yield Literal(start, "".join(parts))
            parts = []
        line += token.count("\n")
