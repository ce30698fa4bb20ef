"""Puts the shell of vm-report's page together, as HTML or as C++.

  assemble.py --out=page_shell.cc report.html report.css d3.min.js d3-dag.iife.min.js page_*.js...

The files are told apart by their names. The scripts are joined in the order of the command line. --out=*.html writes
the page itself.
"""

import argparse
import sys
from pathlib import Path


def shell(files):
    """Returns the page's text without data."""
    text, styles, libraries, scripts = "", "", {}, []
    for path in map(Path, files):
        content = path.read_text(encoding="utf-8")
        if path.suffix == ".html":
            text = content
        elif path.suffix == ".css":
            styles = content
        elif path.name.endswith(".min.js"):
            libraries["DAG" if "dag" in path.name else "D3"] = content
        else:
            scripts.append(content)
        if path.suffix == ".js" and ("</script" in content.lower() or "<!--" in content):
            sys.exit("assemble.py: %s: expected a script without </script and <!--, which would end it" % path)
    for name, content in {"CSS": styles, "JS": "\n".join(scripts), **libraries}.items():
        before, mark, after = text.partition("@%s@" % name)
        if not mark:
            sys.exit("assemble.py: expected one @%s@ in the page" % name)
        text = before + content + after
    return text


def as_cc(text):
    """Returns C++ that defines the text. Compilers limit the length of a literal, so it is an array of bytes."""
    data = text.encode("utf-8")
    lines = [",".join(map(str, data[i:i + 32])) + "," for i in range(0, len(data), 32)]
    return "\n".join([
        "// The shell of vm-report's page, by assemble.py.", '#include "tools/lib/report/page/page_shell.h"',
        "namespace ember::tools {", "const unsigned char kPageShellBytes[] = {", *lines, "};",
        "const size_t kPageShellSize = sizeof kPageShellBytes;", "}  // namespace ember::tools", ""
    ])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", required=True)
    parser.add_argument("files", nargs="+")
    options = parser.parse_args()
    text = shell(options.files)
    Path(options.out).write_text(text if options.out.endswith(".html") else as_cc(text), encoding="utf-8")


if __name__ == "__main__":
    main()
