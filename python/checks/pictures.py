"""Runs a notebook with Ember's tables and errors, and takes pictures of it with Chromium.

    PYTHONPATH=STAGED_PACKAGE python3 python/checks/pictures.py --out=FOLDER

`./dev python pictures` builds the package and calls it. It writes notebook.html and notebook.png. A person, or a model,
must look at them: no check says that a table is beautiful. Needs jupyter-nbconvert, python3-ipykernel and chromium.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

import nbformat

CELLS = [
    (
        "markdown",
        "# A module, its profile, and what is refused",
    ),
    (
        "code",
        """\
import warnings
import ember, numpy as np
warnings.simplefilter("ignore")
from sklearn.neural_network import MLPClassifier
rng = np.random.default_rng(7)
x, y = rng.normal(size=(200, 8)).astype(np.float32), rng.integers(0, 3, 200)
module = ember.compile(MLPClassifier((32, 16), max_iter=20).fit(x, y))
module""",
    ),
    (
        "code",
        """\
session = ember.Session(module, profile=True, tier="optimized", threads=1)
for _ in range(100): session(x)
session.profile()""",
    ),
    ("code", "print(session.profile())"),
    ("code", "session(x[:, :5])"),
    (
        "code",
        """\
ember.compile(b'''
module @net {
  func.func @main(%x: tensor<2x3xf32>, %w: tensor<4x5xf32>) -> tensor<2x5xf32> {
    %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<2x3xf32>, tensor<4x5xf32>) -> tensor<2x5xf32>
    return %0 : tensor<2x5xf32>
  }
}
''', name="net.mlir")""",
    ),
]

def make_notebook() -> nbformat.NotebookNode:
    """Returns the notebook, without results."""
    made = nbformat.v4.new_notebook()
    for kind, text in CELLS:
        make = nbformat.v4.new_markdown_cell if kind == "markdown" else nbformat.v4.new_code_cell
        made.cells.append(make(text))
    made.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return made


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", required=True, type=Path, help="Writes the pictures to this folder.")
    parser.add_argument("--notebook", type=Path, help="Runs this notebook instead.")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    notebook = options.out / "notebook.ipynb"
    made = nbformat.read(options.notebook, 4) if options.notebook else make_notebook()
    nbformat.write(made, notebook)
    command = [sys.executable, "-m", "nbconvert", "--to", "html", "--execute", "--allow-errors", str(notebook)]
    subprocess.run(command, check=True)
    page, picture = options.out / "notebook.html", options.out / "notebook.png"
    subprocess.run(
        [
            "chromium",
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--hide-scrollbars",
            "--window-size=1100,1300",
            f"--screenshot={picture}",
            page.absolute().as_uri(),
        ],
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    print(picture)
    return 0


if __name__ == "__main__":
    sys.exit(main())
