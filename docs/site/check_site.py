"""Checks the links of a built site: each must lead to a file, and to a place in it, of the site.

    check_site.py SITE     # prints the broken links; exit status 1 if there are any

Addresses with a scheme (https:) are counted and not fetched.
"""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[tuple[int, str]] = []
        self.loads: list[tuple[int, str]] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        values = {name: value for name, value in attributes if value}
        for name in ("id", "name"):
            if name in values:
                self.anchors.add(values[name])
        line = self.getpos()[0]
        if "src" in values:
            self.loads.append((line, values["src"]))
        if "href" in values:
            (self.loads if tag == "link" else self.links).append((line, values["href"]))


def read_pages(site: Path) -> dict[Path, _Page]:
    pages = {}
    for path in sorted(site.rglob("*.html")):
        pages[path.resolve()] = page = _Page()
        page.feed(path.read_text(encoding="utf-8"))
    return pages


def problems(site: Path) -> tuple[int, int, list[str]]:
    """Returns the number of links inside the site, of those that leave it, and the broken ones."""
    pages, inside, outside, found = read_pages(site), 0, 0, []
    for path, page in pages.items():
        where = path.relative_to(site.resolve())
        for line, address in page.links + page.loads:
            is_load = (line, address) in page.loads
            if address.startswith(("http:", "https:", "//")):
                outside += 1
                if is_load:
                    found.append("%s:%d: loads %s, which needs a network" % (where, line, address))
                continue
            if address.startswith(("mailto:", "data:", "javascript:")):
                continue
            inside += 1
            target, anchor = urldefrag(address)
            target = target.partition("?")[0]
            file = (path.parent / unquote(target)).resolve() if target else path
            file = file / "index.html" if file.is_dir() else file
            if not file.is_file():
                found.append("%s:%d: no file %s" % (where, line, address))
            elif anchor and file in pages and unquote(anchor) not in pages[file].anchors:
                found.append("%s:%d: no place %s" % (where, line, address))
    return inside, outside, found


def main() -> int:
    site = Path(sys.argv[1])
    inside, outside, found = problems(site)
    for problem in found:
        print(problem)
    print("%d links inside the site, %d to other sites (not fetched), %d broken" % (inside, outside, len(found)))
    return 1 if found or not inside else 0


if __name__ == "__main__":
    sys.exit(main())
