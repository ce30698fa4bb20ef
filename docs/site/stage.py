"""Copies the Markdown pages of the repository to a folder, in the form that Sphinx reads.

The pages keep their paths, so that links between them stay as they are. A link to another file of the repository leads to a
page that shows the file, a link to a header of the API to its page of the reference, and a link to a folder to its README.md
or to a list of its pages. A link to a file that does not exist is an error.
"""

from __future__ import annotations

import os
import posixpath
import re
from pathlib import Path

# Code, or a link with its text.
_LINK = re.compile(r"(`+[^`]*`+)(?!\])|\[([^\[\]]*)\]\(([^()\s]+)\)")
_LEXERS = {"h": "cpp", "cc": "cpp", "c": "c", "hpp": "cpp", "py": "python", "sh": "bash", "mjs": "javascript", "fbs": "text"}
_KNOWN = {"c", "cpp", "python", "console", "bash", "text", "json", "cmake", "java", "kotlin"}


class Stage:
    def __init__(self, root: Path, out: Path, pages: list[str], headers: dict[str, str]):
        """`pages` are the paths of the Markdown files; `headers` gives the page of a header."""
        self.root, self.out, self.pages, self.headers = root, out, set(pages), headers
        self.problems: list[str] = []
        self._sources: set[str] = set()
        self._folders: set[str] = set()

    def write(self, path: str, text: str, orphan: bool = False) -> None:
        path = "index.md" if path == "README.md" else path
        (self.out / path).parent.mkdir(parents=True, exist_ok=True)
        (self.out / path).write_text(("---\norphan: true\n---\n\n" if orphan else "") + text, encoding="utf-8")

    def page(self, path: str) -> str:
        """Returns the text of a page of the repository, with its links rewritten."""
        out, fenced = [], False
        for number, line in enumerate((self.root / path).read_text(encoding="utf-8").split("\n"), 1):
            if line.lstrip().startswith("```"):
                if not fenced:
                    line = _opening_fence(line)
                fenced = not fenced
            elif not fenced and re.fullmatch(r"<!--.*-->", line.strip()):
                continue
            elif not fenced and not line.startswith("    "):
                line = _LINK.sub(lambda m: self._link(path, number, m), line)
            out.append(line)
        return "\n".join(out)

    def _link(self, page: str, number: int, match: re.Match[str]) -> str:
        if match.group(1):
            return match.group()
        target, _, anchor = match.group(3).partition("#")
        if re.match(r"[a-z]+:", target) or not target:
            return match.group()
        found = posixpath.normpath(posixpath.join(posixpath.dirname(page), target))
        to = self._page_of(found)
        if to is None:
            self.problems.append("%s:%d: link to %s, which does not exist" % (page, number, match.group(3)))
            return match.group()
        text = match.group(2)
        if text.endswith(".md") and to in self.pages:
            # The name of a file says less than the title of its page.
            text = title_of((self.root / to).read_text(encoding="utf-8")) or text
        to = posixpath.relpath("index.md" if to == "README.md" else to, posixpath.dirname(page) or ".")
        return "[%s](%s%s)" % (text, to, "#" + anchor if anchor else "")

    def _page_of(self, path: str) -> str | None:
        """Returns the page that shows a path of the repository; None if there is no such path."""
        if path in self.pages:
            return path
        if path in self.headers:
            return self.headers[path]
        if (self.root / path).is_dir():
            readme = "README.md" if path == "." else path + "/README.md"
            if readme not in self.pages:
                self._folders.add(path)
            return readme
        if (self.root / path).is_file():
            self._sources.add(path)
            return "source/%s.md" % path
        return None

    def write_linked(self, listed: set[str]) -> None:
        """Writes the pages of linked files and folders. `listed` are the pages of the sidebar."""
        for path in sorted(self._sources):
            lexer = _LEXERS.get(path.rsplit(".", 1)[-1], "text")
            text = (self.root / path).read_text(encoding="utf-8", errors="replace").rstrip("\n")
            fence = "`" * 6
            self.write("source/%s.md" % path, "# %s\n\n%s%s\n%s\n%s\n" % (path, fence, lexer, text, fence), orphan=True)
        for folder in sorted(self._folders):
            if folder + "/README.md" in listed:
                continue
            text = "# %s\n\n" % folder
            for entry in sorted(os.listdir(self.root / folder)):
                path = posixpath.join(folder, entry)
                if path in self.pages:
                    text += "- [%s](%s)\n" % (title_of((self.root / path).read_text(encoding="utf-8")), entry)
                elif (self.root / path / "README.md").is_file():
                    text += "- [%s](%s/README.md)\n" % (entry, entry)
                else:
                    text += "- `%s`\n" % entry
            self.write(folder + "/README.md", text, orphan=True)


def _opening_fence(line: str) -> str:
    """Returns the fence of a block with its language alone, and the name of its file as a caption."""
    indent, info = re.match(r"(\s*)```(.*)", line).groups()
    words = info.split()
    if not words:
        return line
    language = words[0] if words[0] in _KNOWN else "text"
    file = next((word[5:] for word in words[1:] if word.startswith("file=")), None)
    if file:
        return "%s```{code-block} %s\n%s:caption: %s\n" % (indent, language, indent, file)
    return indent + "```" + language


def title_of(text: str) -> str:
    return next((line[2:].strip() for line in text.split("\n") if line.startswith("# ")), "")
