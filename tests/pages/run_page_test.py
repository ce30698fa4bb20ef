"""Tests run_page.py: it finds commands that fail, output that differs, and commands that it would never try."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).resolve().parent / "run_page.py"


def run(page, *arguments):
    """Returns the exit status and the output for a page with this text."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "page.md")
        path.write_text(page.replace("~~~", "```"))
        (Path(folder) / "given.txt").write_text("given\n")
        done = subprocess.run(
            [sys.executable, SCRIPT, "--repository=" + folder, *arguments, path], stdout=subprocess.PIPE, text=True
        )
        return done.returncode, done.stdout


class RunPageTest(unittest.TestCase):
    def assert_passes(self, page, commands):
        status, output = run(page)
        self.assertEqual(status, 0, output)
        self.assertIn("page.md: %d commands" % commands, output)

    def assert_fails(self, page, problem):
        status, output = run(page)
        self.assertEqual(status, 1, output)
        self.assertIn(problem, output)

    def test_compares_output(self):
        self.assert_passes("~~~console\n$ echo one  two; echo three\none two\nth…\n$ true\n~~~\n", 2)
        self.assert_fails("~~~console\n$ echo one\ntwo\n~~~\n", "page.md:3: expected in the output of echo one")

    def test_commands_must_succeed(self):
        self.assert_fails("~~~console any\n$ false\n~~~\n", "page.md:2: false: exit status 1")
        self.assert_passes("~~~console fails\n$ echo no; false\nno\n~~~\n", 1)
        self.assert_fails("~~~console fails\n$ true\n~~~\n", "true: exit status 0")

    def test_continued_commands(self):
        self.assert_passes("~~~console\n$ echo one \\\n    two\none two\n~~~\n", 1)

    def test_not_run(self):
        page = "~~~console\n$ true\n~~~\n\n~~~console not-run: %s\n$ false\n~~~\n"
        self.assert_passes(page % "it fails", 1)
        self.assert_fails(page % "", "expected console, console any")

    def test_files(self):
        self.assert_passes("~~~python file=a.py\nprint(6 * 7)\n~~~\n\n~~~console\n$ python3 a.py\n42\n~~~\n", 1)
        self.assert_passes("<!-- files: b.txt = repository/given.txt -->\n~~~console\n$ cat b.txt\ngiven\n~~~\n", 1)
        self.assert_passes("<!-- setup: echo x > c -->\n~~~console\n$ cat c\nx\n~~~\n", 2)

    def test_quotes(self):
        self.assert_passes("~~~cpp given.txt\ngiven\n~~~\n", 0)
        self.assert_fails("~~~cpp given.txt\ntaken\n~~~\n", "given.txt does not contain the quoted code")

    def test_unmarked_commands(self):
        for block in ("~~~\n$ vm-run x\n~~~\n", "~~~sh\n./dev test\n~~~\n", "    vm-run x\n"):
            self.assert_fails("Text\n\n" + block, "does not begin with ```console")
        # An indented block under an item of a list is text, not code.
        self.assert_passes("- item\n    vm-run x\n\n~~~console\n$ true\n~~~\n", 1)

    def test_skips(self):
        status, output = run("<!-- files: a = corpus/a -->\n~~~console\n$ false\n~~~\n")
        self.assertEqual(status, 0)
        self.assertIn("skipped: no corpus", output)
        self.assertIn("skipped: no no-such-program", run("<!-- needs: no-such-program -->\n~~~console\n$ false\n~~~\n")[1])

    def test_a_page_without_commands_tests_nothing(self):
        self.assertEqual(run("Text\n")[0], 1)


if __name__ == "__main__":
    unittest.main()
