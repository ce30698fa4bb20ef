"""The examples in the package's docstrings, and in its README."""

import doctest
import importlib
import pkgutil
import unittest
from pathlib import Path

import ember

# _ember is not Python, and onnx_backend needs a package that may be missing.
LEFT_OUT = {"_ember", "onnx_backend"}


def load_tests(loader, tests, pattern):
    found = [m.name for m in pkgutil.walk_packages(ember.__path__, "ember.")]
    names = ["ember"] + [name for name in found if name.rpartition(".")[2] not in LEFT_OUT]
    for name in names:
        tests.addTests(doctest.DocTestSuite(importlib.import_module(name)))
    for page in ("README.md", "TE.md"):
        path = Path(__file__).resolve().parent.parent / page
        if path.exists():
            tests.addTests(doctest.DocFileSuite(str(path), module_relative=False))
    return tests


if __name__ == "__main__":
    unittest.main()
