"""Builds the documentation as a site of HTML files, with Sphinx; ./dev docs calls it.

    build_site.py --out=FOLDER --tools=FOLDER
    build_site.py --list     # prints the pages of the sidebar that are files of the repository

FOLDER/pages gets the Markdown that Sphinx reads, FOLDER/site the site. --tools is the folder of the built tools, whose --help
becomes the reference. A broken link, a warning of Sphinx or a page of the sidebar that does not exist is an error.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(HERE), str(ROOT / "packaging")]

import check_site  # noqa: E402
from c_header import escaped, header_page  # noqa: E402
from help_text import read_help, to_markdown  # noqa: E402
from navigation import DECLINES, HEADERS, SECTIONS, TOOLS  # noqa: E402
from python_api import package_page  # noqa: E402
from stage import Stage, title_of  # noqa: E402

# Folders whose pages are not for readers of the site.
_LEFT_OUT = ("third_party/", "vm/api/testdata/")


def our_pages() -> list[str]:
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "*.md"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    ).stdout
    return sorted({p for p in listed.split("\0") if p and not p.startswith(_LEFT_OUT) and (ROOT / p).is_file()})


def expanded(entries: list, pages: list[str]) -> list:
    """Replaces FOLDER/*.md by the pages of that folder."""
    out = []
    for entry in entries:
        if isinstance(entry, tuple):
            out.append((entry[0], entry[1], expanded(entry[2], pages)))
        elif entry.endswith("/*.md"):
            out += [p for p in pages if p.rsplit("/", 1)[0] + "/*.md" == entry and not p.endswith("/README.md")]
        else:
            out.append(entry)
    return out


def listed_pages(pages: list[str]) -> list[str]:
    """Returns the pages of the sidebar in their order."""
    entries = [entry for _, entries in SECTIONS for entry in expanded(entries, pages)]
    return [page for e in entries for page in ([e[0], *e[2]] if isinstance(e, tuple) else [e])]


def toctree(entries: list, caption: str = "", hidden: bool = False) -> str:
    options = ([":caption: " + caption] if caption else []) + ([":hidden:"] if hidden else []) + [":maxdepth: 1"]
    names = ["/" + (e[0] if isinstance(e, tuple) else e).removesuffix(".md") for e in entries]
    return "\n```{toctree}\n%s\n\n%s\n```\n" % ("\n".join(options), "\n".join(names))


def write_reference(stage: Stage, tools: Path) -> None:
    for tool in TOOLS:
        # vm-report needs libraries of npm (./dev setup --for=report), without which Bazel does not build it.
        is_missing = tool == "vm-report" and not (tools / tool).exists()
        text = "# vm-report\n\n[Pages about runs](/docs/report.md) has examples.\n" if is_missing else to_markdown(read_help(tools / tool))
        stage.write("reference/%s.md" % tool, text)
    for header, (page, note) in HEADERS.items():
        name = header.rsplit("/", 1)[-1]
        stage.write(page, header_page(name, (ROOT / header).read_text(encoding="utf-8"), note))
    stage.write(DECLINES[1], declines_page())
    stage.write("reference/python-ember.md", package_page(ROOT / "python/ember", "ember"))
    stage.write("reference/python-ember-te.md", package_page(ROOT / "python/ember/te", "ember.te"))
    for page, header, title in (
        ("graph-text", "compiler/graph/text/text.h", "The text form of a graph"),
        ("schedule-text", "jit/schedule/core/steps.h", "The text form of a schedule"),
    ):
        text = header_page(
            title, (ROOT / header).read_text(encoding="utf-8"), "`%s` reads and writes this form." % header, "text"
        )
        stage.write(
            "reference/%s.md" % page, re.split(r"\n## ", text)[0] + (primitives_table() if page == "schedule-text" else "")
        )


def declines_page() -> str:
    """Returns the reasons why a dispatch has no kernel, from their table."""
    rows = re.findall(r'row\(\w+, "([^"]*)", "([^"]*)"\)', (ROOT / DECLINES[0]).read_text(encoding="utf-8"))
    table = "".join("| `%s` | %s |\n" % row for row in rows)
    return (
        "# Why a dispatch has no kernel\n\nThe interpreter runs such a dispatch, with the same results.\n\n| reason | meaning |\n| --- | --- |\n"
        + table
    )


def primitives_table() -> str:
    """Returns the primitives as Markdown, from their table in jit/schedule/core/steps.h."""
    table = (ROOT / "jit/schedule/core/steps.h").read_text(encoding="utf-8").split("#define EMBER_FOR_EACH_PRIMITIVE", 1)[1]
    rows = re.findall(r'row\("(\w+)",[^"]*"([^"]*)",((?:[ \\\n]*"[^"]*")+)\)', table)
    text = "\n## Primitives\n\nA line is the primitive's name and its operands. The names after `->` are those of new loops or stages.\n"
    for name, operands, doc in rows:
        text += "\n### %s\n\n`%s %s`\n\n%s.\n" % (name, name, operands, escaped("".join(re.findall(r'"([^"]*)"', doc))))
    return text


def stage_pages(stage: Stage, pages: list[str], tools: Path) -> list[str]:
    """Writes all pages; returns problems."""
    sections = [(title, expanded(entries, pages)) for title, entries in SECTIONS]
    listed = set(listed_pages(pages))
    write_reference(stage, tools)
    for path in pages:
        text = stage.page(path)
        if path == "README.md":
            text += "".join(toctree(entries, title, hidden=True) for title, entries in sections)
        stage.write(path, text, orphan=path not in listed and path != "README.md")
    for _, entries in sections:
        for entry in entries:
            if isinstance(entry, tuple):
                stage.write(entry[0], "# %s\n%s" % (entry[1], toctree(entry[2])))
    stage.write_linked(listed)
    return stage.problems + ["docs/site/navigation.py: no page %s" % p for p in sorted(listed) if not (stage.out / p).is_file()]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--tools", type=Path)
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    if options.list:
        print("\n".join(["README.md"] + [page for page in listed_pages(our_pages()) if (ROOT / page).is_file()]))
        return 0
    if not options.out or not options.tools:
        parser.error("expected --out and --tools")
    folder, site, pages = options.out / "pages", options.out / "site", our_pages()
    shutil.rmtree(folder, ignore_errors=True)
    shutil.rmtree(site, ignore_errors=True)
    stage = Stage(ROOT, folder, pages, {**{header: page for header, (page, _) in HEADERS.items()}, DECLINES[0]: DECLINES[1]})
    problems = stage_pages(stage, pages, options.tools)
    for problem in problems:
        print(problem)
    shutil.copy(HERE / "conf.py", folder)
    shutil.copytree(HERE / "static", folder / "_static", dirs_exist_ok=True)
    sphinx = subprocess.run(
        [
            sys.executable,
            "-m",
            "sphinx",
            "-q",
            "-W",
            "--keep-going",
            "-j",
            "auto",
            "-b",
            "html",
            "-d",
            options.out / "doctrees",
            folder,
            site,
        ]
    )
    inside, outside, broken = check_site.problems(site)
    for problem in broken:
        print(problem)
    print(
        "%s: %d pages, %d links inside the site, %d broken"
        % (site / "index.html", len(list(site.rglob("*.html"))), inside, len(broken) + len(problems))
    )
    return 1 if problems or broken or sphinx.returncode else 0


if __name__ == "__main__":
    sys.exit(main())
