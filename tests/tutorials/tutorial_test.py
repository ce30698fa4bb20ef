"""Runs the commands of a tutorial and checks the code that it quotes.

  tutorial_test.py PAGE.md REPOSITORY TOOLS FILE...

A block ```console holds commands ("$ command") with their output. Each command must succeed. Each line of the
output must appear in what the command prints; "…" matches any text. In a block ```console any only the commands
are run, because their output depends on the machine.

A block ```cpp PATH or ```case PATH quotes a file of the repository: its lines must appear there, one after another.

The commands run in a temporary folder that holds FILEs, with the folder TOOLS on the path.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile


def blocks(page):
    """Yields (line number, info string, lines) of the fenced blocks of a page."""
    info, start, lines = None, 0, []
    for number, line in enumerate(page.split("\n"), 1):
        if line.startswith("```"):
            if info is None:
                info, start, lines = line[3:].strip(), number, []
            else:
                yield start, info, lines
                info = None
        elif info is not None:
            lines.append(line)


def folded(text):
    """Returns the text with each run of white space as one space."""
    return " ".join(text.split())


def appears(line, output):
    """True if an expected line appears in the output; "…" matches any text within a line."""
    pattern = ".*".join(re.escape(folded(part)) for part in line.split("…"))
    return any(re.search(pattern, folded(candidate)) for candidate in output.split("\n"))


def run_console(start, lines, checks_output, folder, path):
    problems, command, output, count = [], None, "", 0
    for number, line in enumerate(lines, start + 1):
        if line.startswith("$ "):
            command = line[2:]
            done = subprocess.run(command, shell=True, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  text=True, env={**os.environ, "PATH": path + ":" + os.environ["PATH"]})
            output = done.stdout
            count += 1
            if done.returncode != 0:
                problems.append("line %d: %s: exit status %d\n%s" % (number, command, done.returncode, output[-2000:]))
        elif checks_output and folded(line.replace("…", "")) and not appears(line, output):
            problems.append("line %d: expected in the output of %s:\n  %s\nfound:\n%s" % (number, command, line, output[:4000]))
    return count, problems


def main():
    page, repository, tools, *files = sys.argv[1:]
    repository, path = os.path.abspath(repository), os.path.abspath(tools)
    commands, quotes, problems = 0, 0, []
    with tempfile.TemporaryDirectory() as folder:
        for file in files:
            shutil.copy(file, folder)
        for start, info, lines in blocks(open(page, encoding="utf-8").read()):
            words = info.split()
            if words[:1] == ["console"]:
                count, found = run_console(start, lines, words[1:] != ["any"], folder, path)
                commands += count
                problems += found
            elif len(words) == 2 and words[0] in ("cpp", "case"):
                quotes += 1
                source = open(os.path.join(repository, words[1]), encoding="utf-8").read()
                if "\n".join(lines) not in source:
                    problems.append("line %d: %s does not contain the quoted code" % (start, words[1]))
    for problem in problems:
        print("%s: %s" % (page, problem))
    print("%d commands, %d quotes, %d problems" % (commands, quotes, len(problems)))
    # A page without commands and quotes would test nothing.
    sys.exit(bool(problems) or commands + quotes == 0)


main()
