#!/usr/bin/env python3
"""Finds classes that two files define under one name, which breaks C++'s one-definition rule, and names of
upper limits that do not begin with kMax.

    git ls-files -z '*.h' '*.cc' | python3 bazel/check_definitions.py     # prints them, exits 1

The linker keeps one of such definitions and says nothing. Types in unnamed namespaces, and types inside of other
types or functions, belong to their file and do not count. Files of programs that are never linked together (a
test and a tool) may share a name only if it is in an unnamed namespace.
"""

import collections
import re
import sys

from comment_blocks import without_comments

TOKEN = re.compile(
    r'R"(?P<tag>[^()\\\s]{0,16})\(.*?\)(?P=tag)"|"(?:\\.|[^"\\\n])*"|(?<![0-9A-Fa-f])\'(?:\\.|[^\'\\\n])+\'|[A-Za-z_]\w*|::|[{};()=<>,:\[\]*&#]',
    re.DOTALL)

# Matches names of upper limits that should begin with kMax. An enumerator kMaximum, for the
# operation "maximum", is no limit and is not matched.
OTHER_LIMIT = re.compile(r"\bkMost(?:[A-Z]\w*)?\b|\bkMaximum[A-Z]\w*")


def definitions(text):
    """Yields the qualified names of classes, structs, unions and enums that a file defines at namespace scope."""
    text = re.sub(r"^[ \t]*#(?:[^\n\\]|\\.|\\\n)*", "", text, flags=re.MULTILINE)
    tokens = [m.group() for m in TOKEN.finditer(text)]
    # A stack with one entry for each open brace: the name of a namespace, "" for an unnamed
    # namespace, None for any other brace.
    scopes = []
    i, statement = 0, []
    while i < len(tokens):
        token = tokens[i]
        if token == "{":
            kind = next((t for t in statement if t in ("namespace", "class", "struct", "union", "enum")), None)
            if kind == "namespace":
                name = "".join(t for t in statement[statement.index("namespace") + 1:] if t not in ("inline",))
                scopes.append(name)
            else:
                # An open brace begins a function if the statement before it has parentheses. The
                # statement before a class's brace has none, except in attributes.
                is_type = kind is not None and "(" not in statement and "=" not in statement
                if is_type and None not in scopes and "" not in scopes and "template" not in statement:
                    rest = [t for t in statement[statement.index(kind) + 1:] if t not in ("class", "struct", "final")]
                    name = []
                    for t in rest:
                        if t in (":", "<"):
                            break
                        name.append(t)
                    if name and "<" not in rest:
                        yield "::".join(scopes + ["".join(name)])
                scopes.append(None)
            statement = []
        elif token == "}":
            if scopes:
                scopes.pop()
            statement = []
        elif token == ";":
            statement = []
        else:
            statement.append(token)
        i += 1


def main():
    places = collections.defaultdict(set)
    bad = 0
    for path in filter(None, sys.stdin.read().split("\0")):
        with open(path, encoding="utf-8", errors="replace") as f:
            text = without_comments(path, f.read())
        for name in definitions(text):
            places[name].add(path)
        for name in sorted(set(OTHER_LIMIT.findall(text))):
            print("%s: %s is an upper limit, whose name begins with kMax" % (path, name))
            bad += 1
    for name, paths in sorted(places.items()):
        if len(paths) > 1:
            print("%s is defined in %s" % (name, " and ".join(sorted(paths))))
            bad += 1
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
