"""Turns the docstrings of the Python package into Markdown pages, without importing it.

    page = package_page(Path("python/ember"), "ember")

The public names are those of __all__ in the package's __init__.py. The source is parsed, so neither NumPy nor the built
libraries are needed.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path


def _docstring(node: ast.AST) -> str:
    return ast.get_docstring(node) or ""  # type: ignore[arg-type]


def markdown_of(docstring: str) -> str:
    """Returns a docstring as Markdown: its examples (>>>) become blocks of code."""
    out, in_code, in_list = [], False, False
    for line in docstring.split("\n") + [""]:
        title = re.fullmatch(r"(Args|Arguments|Returns|Raises|Attributes):", line.strip())
        if title:
            in_list = True
            out += ["**%s**" % title.group(1), ""]
            continue
        entry = re.match(r"  (\*{0,2}\w+): (.*)", line) if in_list else None
        if entry:
            line = "- `%s`: %s" % entry.groups()
        in_list = in_list and bool(line.strip())
        starts = line.lstrip().startswith(">>>") or (line.startswith("    ") and not in_list and out and not out[-1].strip())
        if starts and not in_code:
            in_code = True
            out += ["", "```python"]
        elif in_code and not line.strip():
            out += ["```", ""]
            in_code = False
            continue
        out.append(line if in_code else re.sub(r"(?<![`\w])([<*_])", r"\\\1", line))
    return "\n".join(out).strip("\n") + "\n"


def _signature(node: ast.FunctionDef | ast.AsyncFunctionDef, name: str) -> str:
    arguments = ast.unparse(node.args)
    returns = " -> " + ast.unparse(node.returns) if node.returns is not None else ""
    text = "%s(%s)%s" % (name, arguments, returns)
    if len(text) <= 100:
        return text
    return "%s(\n    %s,\n)%s" % (name, ",\n    ".join(_split_arguments(arguments)), returns)


def _split_arguments(arguments: str) -> list[str]:
    """Splits at the commas that are in no bracket."""
    parts, depth, part = [], 0, ""
    for c in arguments:
        depth += c in "([{"
        depth -= c in ")]}"
        if c == "," and depth == 0:
            parts.append(part.strip())
            part = ""
        else:
            part += c
    return parts + [part.strip()]


def _is_property(node: ast.FunctionDef) -> bool:
    return any(ast.unparse(d) in ("property", "functools.cached_property", "cached_property") for d in node.decorator_list)


def _function(node: ast.FunctionDef, name: str, level: int) -> str:
    text = name if _is_property(node) else _signature(node, name)
    if _is_property(node) and node.returns is not None:
        text += ": " + ast.unparse(node.returns)
    return "%s %s\n\n```python\n%s\n```\n\n%s" % ("#" * level, name.rsplit(".", 1)[-1], text, markdown_of(_docstring(node)))


def _class(node: ast.ClassDef, name: str) -> str:
    bases = ", ".join(ast.unparse(base) for base in node.bases)
    page = "## %s\n\n```python\nclass %s%s\n```\n\n%s\n" % (
        name.rsplit(".", 1)[-1],
        name,
        "(%s)" % bases if bases else "",
        markdown_of(_docstring(node)),
    )
    fields = [ast.unparse(n) for n in node.body if isinstance(n, ast.AnnAssign) and not ast.unparse(n.target).startswith("_")]
    if fields:
        page += "```python\n%s\n```\n\n" % "\n".join(fields)
    for member in node.body:
        if not isinstance(member, ast.FunctionDef):
            continue
        setter = any(ast.unparse(d).endswith(".setter") for d in member.decorator_list)
        if setter or (member.name.startswith("_") and member.name not in ("__init__", "__call__")):
            continue
        if member.name == "__init__" and not member.args.args[1:] and not member.args.kwonlyargs:
            continue
        last = name.rsplit(".", 1)[-1]
        title = {"__init__": last, "__call__": last.lower()}.get(member.name, member.name)
        page += _function(member, title, 3) + "\n"
    return page


def _definitions(package: Path) -> dict[str, ast.AST]:
    """Returns what the package's __init__.py imports from its files, by the public name."""
    init = ast.parse((package / "__init__.py").read_text())
    found: dict[str, ast.AST] = {}
    for node in init.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found[node.name] = node
        if not isinstance(node, ast.ImportFrom) or node.level == 0 or node.module is None:
            continue
        path = package.parent if node.level == 2 else package
        source = path / (node.module.replace(".", "/") + ".py")
        if not source.is_file():
            source = path / node.module.replace(".", "/") / "__init__.py"
        if not source.is_file():
            continue
        body = {n.name: n for n in ast.walk(ast.parse(source.read_text())) if isinstance(n, (ast.FunctionDef, ast.ClassDef))}
        for alias in node.names:
            if alias.name in body:
                found[alias.asname or alias.name] = body[alias.name]
    return found


def package_page(package: Path, name: str) -> str:
    init = ast.parse((package / "__init__.py").read_text())
    public = next(
        ast.literal_eval(n.value) for n in init.body if isinstance(n, ast.Assign) and ast.unparse(n.targets[0]) == "__all__"
    )
    definitions = _definitions(package)
    page = "# The Python module %s\n\n%s\n" % (name, markdown_of(_docstring(init)))
    for public_name in sorted(public, key=lambda n: (n[0].isupper(), n)):
        node = definitions.get(public_name)
        if isinstance(node, ast.FunctionDef):
            page += "\n" + _function(node, name + "." + public_name, 2)
        elif isinstance(node, ast.ClassDef):
            page += "\n" + _class(node, name + "." + public_name)
    return page
