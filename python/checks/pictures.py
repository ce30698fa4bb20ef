"""Runs notebooks with Ember's tables, schedules and errors, and takes pictures of them with Chromium.

    PYTHONPATH=STAGED_PACKAGE python3 python/checks/pictures.py --out=FOLDER

`./dev python pictures` builds the package and calls it. It writes module.html, module.png, schedule.html and
schedule.png. A person, or a model, must look at them: no check says that a table is beautiful. Needs jupyter-nbconvert,
python3-ipykernel and chromium.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

import nbformat

MODULE = [
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

SCHEDULE = [
    ("markdown", "# A schedule, and a step that is refused"),
    (
        "code",
        """\
from ember import te
s = te.schedule(te.parse("y[i, j] = sum(k) a[i, k] * b[k, j]", a=(64, 128), b=(128, 32)))
y = s["y"]
jo, ji = y.split("j", 16)
io, ii = y.split("i", 4)
y.reorder(io, jo, "k", ii, ji)
y.vectorize(ji)
y.unroll(ii)
y.cache_read("b").compute_at(jo)
s""",
    ),
    ("code", "y.parallel(ji)"),
    ("code", "s"),
    ("code", "y.parallel(io)\ns"),
    ("code", "s.check()"),
]

# For each notebook: its cells, and the height in pixels of the picture that is taken of it.
NOTEBOOKS = {"module": (MODULE, 1300), "schedule": (SCHEDULE, 1500)}


def make_notebook(cells: list[tuple[str, str]]) -> nbformat.NotebookNode:
    """Returns the notebook, without results."""
    made = nbformat.v4.new_notebook()
    for kind, text in cells:
        make = nbformat.v4.new_markdown_cell if kind == "markdown" else nbformat.v4.new_code_cell
        made.cells.append(make(text))
    made.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return made


def take(page: Path, height: int) -> Path:
    """Takes a picture of a page."""
    picture = page.with_suffix(".png")
    subprocess.run(
        [
            "chromium",
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--hide-scrollbars",
            f"--window-size=1100,{height}",
            f"--screenshot={picture}",
            page.absolute().as_uri(),
        ],
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    return picture


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", required=True, type=Path, help="Writes the pictures to this folder.")
    parser.add_argument("--notebook", type=Path, help="Runs this notebook instead.")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    if options.notebook:
        made = {options.notebook.stem: (nbformat.read(options.notebook, 4), 1300)}
    else:
        made = {name: (make_notebook(cells), height) for name, (cells, height) in NOTEBOOKS.items()}
    for name, (notebook, height) in made.items():
        path = options.out / f"{name}.ipynb"
        nbformat.write(notebook, path)
        command = [sys.executable, "-m", "nbconvert", "--to", "html", "--execute", "--allow-errors", str(path)]
        subprocess.run(command, check=True)
        print(take(path.with_suffix(".html"), height))
    return 0


if __name__ == "__main__":
    sys.exit(main())
