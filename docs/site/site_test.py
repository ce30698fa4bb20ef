"""Tests the scripts of the site that need no Sphinx."""

import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import check_site  # noqa: E402
from c_header import header_page  # noqa: E402
from python_api import package_page  # noqa: E402
from stage import Stage  # noqa: E402

HEADER = """\
/* The API of a thing.
 *
 *   use(thing);
 */
#ifndef THING_H_
#define THING_H_

#define THING_VERSION 3

typedef struct Thing Thing;

/* Says how. A <b> is kept. */
typedef struct ThingOptions {
  int size; /* in bytes
             * (all of them) */
  void (*report)(void* context);
} ThingOptions;

typedef struct ThingApi {
  size_t struct_size;
  unsigned version;
  /* Makes a thing. */
  Thing* (*create)(const ThingOptions* options,
                   int flags);
  void (*release)(Thing* thing);

  /* --- version 2 --- */
  /* Counts. */
  int (*count)(const Thing* thing);
} ThingApi;

const ThingApi* thing_get_api(void);

#endif
"""


class HeaderTest(unittest.TestCase):
    def test_sections(self):
        page = header_page("thing.h", HEADER, "Include it.")
        titles = [line for line in page.split("\n") if line.startswith(("# ", "## ", "### "))]
        self.assertEqual(
            titles,
            [
                "# thing.h",
                "## THING_VERSION",
                "## ThingOptions",
                "## ThingApi",
                "### create",
                "### release",
                "### count",
                "## thing_get_api",
            ],
        )
        self.assertIn("```cpp\nuse(thing);\n```", page)
        self.assertIn("Says how. A \\<b\\> is kept.", page)
        self.assertIn("Thing* (*create)(const ThingOptions* options,\n                 int flags);", page)
        # Every declaration is on the page.
        for line in ("typedef struct Thing Thing;", "void (*report)(void* context);", "int (*count)(const Thing* thing);"):
            self.assertIn(line, page)


class PythonTest(unittest.TestCase):
    def test_package(self):
        with tempfile.TemporaryDirectory() as folder:
            package = Path(folder, "thing")
            package.mkdir()
            (package / "__init__.py").write_text(
                '"""A thing.\n\n>>> make(1)\n2\n"""\nfrom .parts import Part, make\n__all__ = ["Part", "make"]\n'
            )
            (package / "parts.py").write_text(
                'def make(a: int, *, b: str = "x") -> "Part":\n    """Makes it.\n\n    Args:\n      a: a number.\n    """\n\n\n'
                'class Part:\n    """A part."""\n\n    def _hidden(self): pass\n\n    def shown(self) -> int:\n        """Counts."""\n'
            )
            page = package_page(package, "thing")
        self.assertIn("```python\n>>> make(1)\n2\n```", page)
        self.assertIn("thing.make(a: int, *, b: str='x') -> 'Part'", page)
        self.assertIn("- `a`: a number.", page)
        self.assertIn("### shown", page)
        self.assertNotIn("_hidden", page)


class StageTest(unittest.TestCase):
    def stage(self, text):
        """Returns a page with this text as Sphinx gets it, and the problems."""
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            (root / "docs").mkdir()
            (root / "docs/page.md").write_text(text)
            (root / "README.md").write_text("# Root\n")
            (root / "code.cc").write_text("int x;\n")
            stage = Stage(root, root / "out", ["README.md", "docs/page.md"], {})
            page = stage.page("docs/page.md")
            stage.write_linked(set())
            made = sorted(str(p.relative_to(root / "out")) for p in (root / "out").rglob("*.md"))
            return page, stage.problems, made

    def test_links(self):
        page, problems, made = self.stage(
            "[a](../README.md#x) [b](../code.cc) [c](https://x.y) [d](../docs) `[e](f)` [g](#h) [README.md](../README.md) [`i`](../README.md)"
        )
        self.assertEqual(
            page,
            "[a](../index.md#x) [b](../source/code.cc.md) [c](https://x.y) [d](README.md) `[e](f)` [g](#h) [Root](../index.md) [`i`](../index.md)",
        )
        self.assertEqual((problems, made), ([], ["docs/README.md", "source/code.cc.md"]))

    def test_broken_link(self):
        self.assertEqual(self.stage("\n[a](none.md)")[1], ["docs/page.md:2: link to none.md, which does not exist"])

    def test_fences(self):
        self.assertEqual(self.stage("```console any\n$ [a](b)\n```")[0], "```console\n$ [a](b)\n```")
        self.assertEqual(self.stage("```python file=a.py\n1\n```")[0], "```{code-block} python\n:caption: a.py\n\n1\n```")
        self.assertEqual(self.stage("<!-- files: a = b -->\nText")[0], "Text")


class CheckSiteTest(unittest.TestCase):
    def test_finds_broken_links(self):
        with tempfile.TemporaryDirectory() as folder:
            site = Path(folder)
            (site / "b.html").write_text('<h1 id="top">b</h1>')
            (site / "a.html").write_text(
                '<a href="b.html#top"></a><a href="b.html#none"></a><a href="c.html"></a>'
                '<a href="https://x.y/z"></a><script src="https://x.y/z.js"></script><img src="d.png?1">'
            )
            inside, outside, found = check_site.problems(site)
        self.assertEqual((inside, outside), (4, 2))
        self.assertEqual(
            [p.split(": ", 1)[1] for p in found],
            ["no place b.html#none", "no file c.html", "loads https://x.y/z.js, which needs a network", "no file d.png?1"],
        )


if __name__ == "__main__":
    unittest.main()
