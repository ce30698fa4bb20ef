"""Tests help_text.py: the text of every tool's --help is read whole, and its man page and completion work."""

import os
import pty
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import help_text  # noqa: E402

TEXT = """\
Usage: vm-try MODEL -o FILE [flags]

Tries a model. It is
fast.

Flags:
  --input=[NAME=]VALUE    Gives an input: @a.npy, or
                          a text.
  -o FILE                 Writes the result to this file.
  --shadow[=FOLDER]       Runs tier 0, too. Default: ember-shadow.
  --tier=0|1|auto         Chooses a tier. Default: auto.
  --a-flag-with-a-long-name=NUMBER
                          Does nothing.
  --quiet                 Prints nothing.

Examples:
  vm-try model.vmfb --tier=1
"""


def completions(script, line):
    """Returns what bash offers after `line`, whose words are those of COMP_WORDS."""
    words = line.replace("=", " = ").split() + ([""] if line[-1] in " =" else [])
    command = (
        'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); _%s; printf "%%s\\n" "${COMPREPLY[@]}"'
    )
    done = subprocess.run(
        ["bash", "-c", command % words[0].replace("-", "_"), "bash", script, *words],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return sorted(filter(None, done.stdout.split("\n")))


def zsh_line(script, typed, expected):
    """Types a text and a tabulator into zsh. Returns what zsh then wrote, until it has written `expected` or says nothing more."""
    process, terminal = pty.fork()
    if process == 0:
        os.environ.update(TERM="dumb", HOME="/nonexistent")
        os.execvp("zsh", ["zsh", "-f", "-i"])
    # The line that sets the prompt writes it in two parts ('vm''> '), so that the echo of this line
    # is not taken for the prompt.
    setup = "cd %s; autoload -Uz compinit; compinit -u -D; source %s; PS1='vm''> '\n" % (os.path.dirname(script), script)
    try:
        for text, awaited in ((setup, "vm> "), (typed + "\t", expected)):
            os.write(terminal, text.encode())
            written = ""
            while awaited not in written and select.select([terminal], [], [], 60)[0]:
                written += os.read(terminal, 4096).decode(errors="replace")
        return written
    finally:
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        os.close(terminal)


class HelpTextTest(unittest.TestCase):
    def test_reads_all_parts(self):
        text = help_text.parse_help(TEXT)
        self.assertEqual(
            (text.tool, text.usage, text.summary), ("vm-try", "MODEL -o FILE [flags]", "Tries a model. It is fast.")
        )
        self.assertEqual(
            [flag.head for flag in text.flags],
            [
                "--input=[NAME=]VALUE",
                "-o FILE",
                "--shadow[=FOLDER]",
                "--tier=0|1|auto",
                "--a-flag-with-a-long-name=NUMBER",
                "--quiet",
            ],
        )
        self.assertEqual(text.flags[0].doc, ["Gives an input: @a.npy, or", "a text."])
        self.assertEqual(text.flags[4].doc, ["Does nothing."])
        self.assertEqual(text.flags[3].choices, ["0", "1", "auto"])
        self.assertEqual(text.examples, ["vm-try model.vmfb --tier=1"])

    def test_reads_groups(self):
        text = help_text.parse_help(TEXT.replace("Flags:", "Inputs:").replace("  --tier", "\nHow it runs:\n  --tier"))
        self.assertEqual([(title, len(flags)) for title, flags in text.groups], [("Inputs", 3), ("How it runs", 3)])

    def test_refuses_other_texts(self):
        with self.assertRaisesRegex(ValueError, "found 'vm-try: error'"):
            help_text.parse_help("vm-try: error\n")
        with self.assertRaisesRegex(ValueError, "found 'no flag'"):
            help_text.parse_help(TEXT.replace("  --quiet                 Prints nothing.", "no flag"))

    def test_man_page(self):
        man = help_text.to_man(help_text.parse_help(TEXT), "1.2")
        self.assertIn(".B \\-\\-tier=0|1|auto\nChooses a tier. Default: auto.\n", man)
        if shutil.which("groff"):
            done = subprocess.run(
                ["groff", "-man", "-Tutf8", "-ww"],
                input=man,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                check=True,
            )
            self.assertEqual(done.stderr, "")

    def test_completes(self):
        with tempfile.TemporaryDirectory() as folder:
            script = os.path.join(folder, "vm-try.bash")
            Path(script).write_text(help_text.to_bash(help_text.parse_help(TEXT)))
            self.assertEqual(completions(script, "vm-try --t"), ["--tier="])
            self.assertEqual(completions(script, "vm-try --q"), ["--quiet"])
            self.assertEqual(completions(script, "vm-try --tier="), ["0", "1", "auto"])
            self.assertEqual(completions(script, "vm-try --tier=a"), ["auto"])
            Path(folder, "model.vmfb").touch()
            self.assertEqual(completions(script, "vm-try %s/mo" % folder), [folder + "/model.vmfb"])
            self.assertEqual(completions(script, "vm-try -o %s/mo" % folder), [folder + "/model.vmfb"])
            self.assertEqual(completions(script, "vm-try --input=@%s/mo" % folder), ["@%s/model.vmfb" % folder])

    @unittest.skipUnless(shutil.which("zsh"), "there is no zsh")
    def test_completes_in_zsh(self):
        with tempfile.TemporaryDirectory() as folder:
            script = os.path.join(folder, "_vm-try")
            Path(script).write_text(help_text.to_zsh(help_text.parse_help(TEXT)))
            subprocess.run(["zsh", "-n", script], check=True)
            Path(folder, "model.vmfb").touch()
            for typed, completed in (
                ("vm-try --ti", "vm-try --tier="),
                ("vm-try --tier=a", "vm-try --tier=auto"),
                ("vm-try --q", "vm-try --quiet"),
                ("vm-try mo", "vm-try model.vmfb"),
                ("vm-try -o mo", "vm-try -o model.vmfb"),
                ("vm-try --input=@mo", "vm-try --input=@model.vmfb"),
            ):
                self.assertIn(completed, zsh_line(script, typed, completed))

    def test_reads_every_tool(self):
        tools = sorted(path for path in Path("tools").glob("vm-*") if path.is_file() and os.access(path, os.X_OK))
        if "TEST_SRCDIR" not in os.environ and not tools:
            self.skipTest("the tools are only beside this test when Bazel runs it")
        self.assertEqual(len(tools), 9)
        for tool in tools:
            with self.subTest(tool.name):
                printed = subprocess.run([tool, "--help"], stdout=subprocess.PIPE, text=True, check=True).stdout
                text = help_text.parse_help(printed)
                self.assertEqual(text.tool, tool.name)
                self.assertEqual([flag.head for flag in text.flags if not flag.doc], [])
                # Every line of --help that begins like a flag must have been parsed as a flag.
                self.assertEqual(
                    len(text.flags), sum(line.startswith("  -") for line in printed.split("Examples:")[0].split("\n"))
                )
                help_text.to_man(text, "1"), help_text.to_bash(text), help_text.to_markdown(text)
                if shutil.which("zsh"):
                    subprocess.run(["zsh", "-n"], input=help_text.to_zsh(text), text=True, check=True)


if __name__ == "__main__":
    unittest.main()
