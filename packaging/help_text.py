#!/usr/bin/env python3
"""Reads the text of a tool's --help, and writes it as Markdown, as a man page, and as completion for bash and zsh.

    help_text.py TOOL --man|--bash|--zsh|--markdown     # TOOL is the path of a program

The text is the only source: what tools/lib/cli/flags.cc prints. packaging/package.py makes the man pages and the completion of
the package ember-tools, and ./dev docs makes the pages of the reference.
"""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

# The documentation of a flag begins in this column (kColumn in tools/lib/cli/flags.cc).
COLUMN = 26
# Matches the placeholder of a flag's value that is a file or folder, which shells then complete.
_FILE = re.compile(r"FILE|DIR|FOLDER|@|MODEL|PATH|NAME\.(secret|public)")


@dataclass
class Flag:
    spelling: str  # "--input" or "-o"
    value: str = ""  # placeholder of the flag's value, such as "FILE"; "" if the flag takes none
    is_optional: bool = False  # True if the value may be left out
    doc: list[str] = field(default_factory=list)

    @property
    def head(self) -> str:
        if not self.value:
            return self.spelling
        if self.is_optional:
            return "%s[=%s]" % (self.spelling, self.value)
        return self.spelling + ("=" if self.spelling.startswith("--") else " ") + self.value

    @property
    def choices(self) -> list[str]:
        parts = self.value.split("|")
        return parts if len(parts) > 1 and all(re.fullmatch(r"[a-z0-9-]+", part) for part in parts) else []


@dataclass
class Help:
    tool: str
    usage: str
    summary: str
    groups: list[tuple[str, list[Flag]]]
    examples: list[str]

    @property
    def flags(self) -> list[Flag]:
        return [flag for _, flags in self.groups for flag in flags]


def parse_help(text: str) -> Help:
    """Parses what `TOOL --help` prints. A text of another form is a ValueError."""
    lines = text.rstrip("\n").split("\n")
    usage = re.fullmatch(r"Usage: (\S+) ?(.*)", lines[0])
    if usage is None:
        raise ValueError("expected 'Usage: TOOL ...', found %r" % lines[0])
    summary, groups, examples, section = [], [], [], ""
    for line in lines[1:]:
        if line.endswith(":") and not line.startswith(" ") and (section or summary) and re.fullmatch(r"[A-Z][^.]*:", line):
            section = line[:-1]
            if section != "Examples":
                groups.append((section, []))
        elif not section:
            summary.append(line)
        elif section == "Examples":
            if line.strip():
                examples.append(line.strip())
        elif match := re.match(r"  (--?[\w-]+)(\[=|[ =])?(\S.*?)??(\])?(?:  +(\S.*))?$", line):
            spelling, join, value, _, doc = match.groups()
            flag = Flag(spelling, value or "", join == "[=", [doc] if doc else [])
            groups[-1][1].append(flag)
        elif line.startswith(" " * COLUMN) and groups and groups[-1][1]:
            groups[-1][1][-1].doc.append(line.strip())
        elif line.strip():
            raise ValueError("%s --help: expected a flag, a title or an example, found %r" % (usage.group(1), line))
    if not groups:
        raise ValueError("%s --help: expected a list of flags, found none" % usage.group(1))
    return Help(usage.group(1), usage.group(2), " ".join("\n".join(summary).split()), groups, examples)


def read_help(program: Path) -> Help:
    done = subprocess.run([program, "--help"], stdout=subprocess.PIPE, text=True, check=True)
    return parse_help(done.stdout)


def _prose(text: str) -> str:
    """Escapes what Markdown would read as marks."""
    return re.sub(r"([<>*_\[\]`|])", r"\\\1", text)


def to_markdown(text: Help) -> str:
    page = "# %s\n\n%s\n\n```text\n%s %s\n```\n" % (text.tool, _prose(text.summary), text.tool, text.usage)
    if text.examples:
        page += "\n## Examples\n\n```console\n%s\n```\n" % "\n".join("$ " + example for example in text.examples)
    for title, flags in text.groups:
        page += "\n## %s\n" % title
        for flag in flags:
            page += "\n### `%s`\n\n%s\n" % (flag.head, _prose(" ".join(flag.doc)))
    return (
        page
        + "\nEvery tool also has `--help` (`-h`) and `--version`. Exit status: 0; 1 if the work failed; 2 if the command line is wrong.\n"
    )


def _roff(text: str) -> str:
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + text if text.startswith((".", "'")) else text


def to_man(text: Help, version: str) -> str:
    out = [
        '.TH %s 1 "" "Ember %s" "Ember"' % (text.tool.upper().replace("-", "\\-"), version),
        ".ad l",
        ".SH NAME",
        "%s \\- %s" % (_roff(text.tool), _roff(text.summary.split(". ")[0].rstrip("."))),
        ".SH SYNOPSIS",
        ".B " + _roff(text.tool),
        _roff(text.usage),
        ".SH DESCRIPTION",
        _roff(text.summary),
    ]
    for title, flags in text.groups:
        out.append(".SH " + ("OPTIONS" if title == "Flags" else title.upper()))
        for flag in flags:
            out += [".TP", ".B " + _roff(flag.head), _roff(" ".join(flag.doc))]
    if text.examples:
        out.append(".SH EXAMPLES")
        for example in text.examples:
            out += [".PP", ".nf", _roff(example), ".fi"]
    out += [".SH EXIT STATUS", "0; 1 if the work failed; 2 if the command line is wrong."]
    return "\n".join(out) + "\n"


def to_bash(text: Help) -> str:
    """Returns a script that completes flags, the values of choices, and files."""
    function = "_" + text.tool.replace("-", "_")
    words, cases = [], []
    for flag in text.flags + [Flag("--help"), Flag("--version")]:
        is_long = flag.spelling.startswith("--")
        words.append(flag.spelling + ("=" if flag.value and not flag.is_optional and is_long else ""))
        if flag.choices:
            cases.append("    %s) COMPREPLY=($(compgen -W '%s' -- \"$value\")) ;;" % (flag.spelling, " ".join(flag.choices)))
        elif flag.value and _FILE.search(flag.value):
            cases.append("    %s) _ember_files ;;" % flag.spelling)
    return """\
# Completion of %(tool)s, made of its --help. With --flag=VALUE bash has the words --flag, = and VALUE.
_ember_files() {
  local at=""
  value="${value##*=}"
  if [[ "$value" == @* ]]; then at=@ value="${value#@}"; fi
  mapfile -t COMPREPLY < <(compgen -P "$at" -f -- "$value")
  compopt -o filenames 2>/dev/null
}
%(function)s() {
  local value="${COMP_WORDS[COMP_CWORD]}" flag="${COMP_WORDS[COMP_CWORD - 1]}"
  if [[ "$value" == = ]]; then
    value=""
  elif [[ "$flag" == = ]] && ((COMP_CWORD > 1)); then
    flag="${COMP_WORDS[COMP_CWORD - 2]}"
  elif [[ "$value" == -* ]]; then
    COMPREPLY=($(compgen -W '%(words)s' -- "$value"))
    [[ "${COMPREPLY[*]}" != *= ]] || compopt -o nospace 2>/dev/null
    return
  fi
  case "$flag" in
%(cases)s
    *) _ember_files ;;
  esac
}
complete -F %(function)s %(tool)s
""" % {
        "tool": text.tool,
        "function": function,
        "words": " ".join(words),
        "cases": "\n".join(cases),
    }


def _zsh(text: str) -> str:
    """Escapes a text for a specification of _arguments in single quotes."""
    return re.sub(r"([\\\[\]:])", r"\\\1", text).replace("'", "'\\''")


def to_zsh(text: Help) -> str:
    """Returns a script that completes flags, with the first sentence of each, the values of choices, and files."""
    specifications = []
    for flag in text.flags + [Flag("--help", doc=["Prints this text."]), Flag("--version", doc=["Prints the version."])]:
        # The "*" before each flag, below, makes zsh offer a flag again after it was given once:
        # some flags may be repeated.
        name = flag.spelling
        if flag.value:
            is_long = name.startswith("--")
            # Suffixes of zsh's _arguments: "=-" if the value follows "=" in the same word, "=" if
            # it may also be the next word, "+" for the value of a short flag.
            name += ("=-" if flag.is_optional else "=") if is_long else "+"
        sentence = " ".join(flag.doc).split(". ")[0].rstrip(".")
        specification = "*%s[%s]" % (name, _zsh(sentence))
        if flag.value:
            action = "(%s)" % " ".join(flag.choices) if flag.choices else "_ember_files"
            specification += "%s:%s:%s" % (":" if flag.is_optional else "", _zsh(flag.value), action)
        specifications.append("    '%s'" % specification)
    return """\
#compdef %(tool)s
# Completion of %(tool)s, made of its --help.
_ember_files() {
  # @FILE, NAME=@FILE: the file is behind the last @.
  compset -P '*@'
  _files
}
%(function)s() {
  _arguments -s -S \\
%(specifications)s \\
    '*:file:_ember_files'
}
# The file is the body of an autoloaded function, or is read by source.
if [[ "${funcstack[1]}" == "%(function)s" ]]; then
  %(function)s "$@"
else
  compdef %(function)s %(tool)s
fi
""" % {
        "tool": text.tool,
        "function": "_" + text.tool,
        "specifications": " \\\n".join(specifications),
    }


def main() -> None:
    if len(sys.argv) != 3 or sys.argv[2] not in ("--man", "--bash", "--zsh", "--markdown"):
        sys.exit(__doc__)
    text = read_help(Path(sys.argv[1]))
    made = {
        "--man": lambda: to_man(text, ""),
        "--bash": lambda: to_bash(text),
        "--zsh": lambda: to_zsh(text),
        "--markdown": lambda: to_markdown(text),
    }
    print(made[sys.argv[2]](), end="")


if __name__ == "__main__":
    main()
