"""Runs the commands of a page and checks the code that it quotes.

  run_page.py [--tools=FOLDER] [--build=FOLDER] [--corpus=FOLDER] [--python=FOLDER] PAGE.md...

Blocks of a page, by the words after ```:

  console             commands ("$ command") with their output. Each command must succeed. Each line of the output must appear
                      in what the command prints; "…" matches any text. A command that ends with \\ continues in the next line.
  console any         the commands must succeed; their output depends on the machine and is not compared
  console fails       the commands must fail, and print the output
  console not-run: R  the commands are not run, for the reason R
  LANGUAGE file=NAME  the block is written to the file NAME, for the commands after it
  cpp PATH, case PATH quotes a file of the repository: the lines must appear there, one after another

Comments of a page:

  <!-- files: NAME = SOURCE; ... -->  copies files for the commands: build/PATH is made by Bazel, repository/PATH and
                                      corpus/PATH are what they say. Without a corpus the page is skipped.
  <!-- setup: COMMAND -->             runs a command first, which the reader does not see
  <!-- needs: NAME, ... -->           the page is skipped without these programs or (python:NAME) modules of Python

Commands run in a fresh folder, which is also their home, with the tools and /usr/bin first on the path. A command in a block
without such a word is a problem: it would never be tried.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

# Matches the beginning of a line that a reader would type as a command.
_COMMAND = re.compile(r"(\$ )?(\./dev |vm-[a-z]+ |bazel |cc |g?cc |g\+\+ |pip |apt-get |python3 |cmake |sudo |curl |wget |git |man )")


def blocks(page: str):
    """Yields (line number, info string, lines) of the blocks of code; the info string of an indented block is None."""
    info, start, lines, before = None, 0, [], ""
    for number, line in enumerate(page.split("\n") + [""], 1):
        if info is not None:
            if line.startswith("```"):
                yield start, info, lines
                info, lines = None, []
            else:
                lines.append(line)
        elif line.startswith("```"):
            info, start, lines = line[3:].strip(), number, []
        elif line.startswith("    ") and (lines or not before.strip()):
            start, lines = start if lines else number, lines + [line[4:]]
        elif lines:
            yield start, None, lines
            lines = []
        before = line


def comments(page: str, word: str, separator: str) -> list[str]:
    """Returns the entries of the comments <!-- WORD: ... --> of a page."""
    texts = re.findall(r"^<!-- %s: (.*) -->$" % word, page, re.M)
    return [entry.strip() for text in texts for entry in text.split(separator) if entry.strip()]


def folded(text: str) -> str:
    """Returns the text with each run of white space as one space."""
    return " ".join(text.split())


def appears(line: str, output: str) -> bool:
    """True if an expected line appears in the output; "…" matches any text within a line."""
    pattern = ".*".join(re.escape(folded(part)) for part in line.split("…"))
    return any(re.search(pattern, folded(candidate)) for candidate in output.split("\n"))


def commands_of(start: int, lines: list[str]):
    """Yields (line number, command, expected lines with their numbers) of a block."""
    number, command, expected, continues = 0, None, [], False
    for at, line in enumerate(lines, start + 1):
        if continues:
            command += "\n" + line
        elif line.startswith("$ "):
            if command is not None:
                yield number, command, expected
            number, command, expected = at, line[2:], []
        else:
            expected.append((at, line))
            continue
        continues = line.endswith("\\")
    if command is not None:
        yield number, command, expected


class Page:
    def __init__(self, path: Path, options: argparse.Namespace):
        self.path, self.options = path, options
        self.text = path.read_text(encoding="utf-8")
        self.commands = self.quotes = 0
        self.problems: list[str] = []

    def skip_reason(self) -> str:
        """Returns why the page cannot be run here, or ""."""
        for need in comments(self.text, "needs", ","):
            module = need.removeprefix("python:")
            if module == need and not shutil.which(need, path=self.options.path):
                return "no " + need
            if module != need and not self._imports(module):
                return "no Python module " + module
        if any("= corpus/" in entry for entry in comments(self.text, "files", ";")) and not self.options.corpus.is_dir():
            return "no corpus in %s" % self.options.corpus
        return ""

    def _imports(self, module: str) -> bool:
        return (
            subprocess.run(
                ["python3", "-c", "import " + module], env=self._environment("/nonexistent"), stderr=subprocess.DEVNULL
            ).returncode
            == 0
        )

    def _environment(self, home: str) -> dict[str, str]:
        kept = {k: v for k, v in os.environ.items() if k not in ("EMBER_CACHE", "XDG_CACHE_HOME", "XDG_STATE_HOME")}
        return {**kept, "PATH": self.options.path, "HOME": home, "PYTHONPATH": str(self.options.python or ""), "TERM": "dumb"}

    def run(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            self._copy_files(Path(folder))
            for command in comments(self.text, "setup", "\0"):
                self._console(0, ["$ " + command], "any", folder)
            for start, info, lines in blocks(self.text):
                self._block(start, info, lines, folder)

    def _copy_files(self, folder: Path) -> None:
        roots = {"build": self.options.build, "repository": self.options.repository, "corpus": self.options.corpus}
        for entry in comments(self.text, "files", ";"):
            name, source = (part.strip() for part in entry.split("=", 1))
            root, _, rest = source.partition("/")
            path = roots[root] / rest
            (shutil.copytree if path.is_dir() else shutil.copyfile)(path, folder / name)

    def _block(self, start: int, info: str | None, lines: list[str], folder: str) -> None:
        words = (info or "").split()
        file = next((word[5:] for word in words[1:] if word.startswith("file=")), None)
        if words[:1] == ["console"]:
            self._console(start, lines, " ".join(words[1:]), folder)
        elif file:
            (Path(folder) / file).write_text("\n".join(lines) + "\n", encoding="utf-8")
        elif len(words) == 2 and words[0] in ("cpp", "case"):
            self.quotes += 1
            if "\n".join(lines) not in (self.options.repository / words[1]).read_text(encoding="utf-8"):
                self._problem(start, "%s does not contain the quoted code" % words[1])
        elif not words or words[0] in ("sh", "bash", "shell"):
            for number, line in enumerate(lines, start + (info is not None)):
                if _COMMAND.match(line):
                    self._problem(number, "a command in a block that does not begin with ```console: %s" % line.strip())

    def _console(self, start: int, lines: list[str], word: str, folder: str) -> None:
        if word.startswith("not-run:") and word != "not-run:":
            return
        if word not in ("", "any", "fails"):
            self._problem(
                start, "expected console, console any, console fails or console not-run: REASON, found console %s" % word
            )
            return
        for number, command, expected in commands_of(start, lines):
            done = subprocess.run(
                ["bash", "-c", command],
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
                env=self._environment(folder),
            )
            self.commands += 1
            if (done.returncode != 0) != (word == "fails"):
                self._problem(number, "%s: exit status %d\n%s" % (command, done.returncode, done.stdout[-2000:]))
            for at, line in expected if word != "any" else []:
                if folded(line.replace("…", "")) and not appears(line, done.stdout):
                    self._problem(at, "expected in the output of %s:\n  %s\nfound:\n%s" % (command, line, done.stdout[:4000]))

    def _problem(self, line: int, text: str) -> None:
        self.problems.append("%s:%d: %s" % (self.path, line, text))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", nargs="+", type=Path, metavar="PAGE.md")
    parser.add_argument("--repository", type=Path, default=Path("."))
    parser.add_argument("--build", type=Path, default=Path("."), help="the folder of what Bazel has built")
    parser.add_argument("--tools", type=Path, default=Path("tools"), help="the folder of the tools")
    parser.add_argument("--corpus", type=Path, default=Path("/nonexistent"))
    parser.add_argument("--python", type=Path, help="the folder that holds the package ember")
    options = parser.parse_args()
    for name in ("repository", "build", "tools", "corpus", "python"):
        setattr(options, name, getattr(options, name) and getattr(options, name).resolve())
    options.path = ":".join([str(options.tools), "/usr/bin", os.environ["PATH"]])
    commands = quotes = skipped = bad = 0
    for path in options.pages:
        page = Page(path, options)
        reason = page.skip_reason()
        if reason:
            skipped += 1
            print("%s: skipped: %s" % (path, reason))
            continue
        page.run()
        count = "%s: %d commands, %d quotes, %d problems" % (path, page.commands, page.quotes, len(page.problems))
        for line in page.problems + ([count] if page.commands + page.quotes + len(page.problems) else []):
            print(line, flush=True)
        commands, quotes, bad = commands + page.commands, quotes + page.quotes, bad + len(page.problems)
    print("%d pages, %d skipped; %d commands, %d quotes, %d problems" % (len(options.pages), skipped, commands, quotes, bad))
    # A page without commands and quotes would test nothing, so it fails.
    return 1 if bad or (commands + quotes == 0 and not skipped) else 0


if __name__ == "__main__":
    sys.exit(main())
