"""The examples in the package's docstrings, and in its README."""

import doctest
import importlib
import pkgutil
import unittest
from pathlib import Path

import ember

# modules whose documentation has no examples to run: _ember is no Python code, and the
# others need packages that may be missing
LEFT_OUT = {"_ember", "onnx_backend", "pytorch"}


def load_tests(loader, tests, pattern):
    found = [m.name for m in pkgutil.walk_packages(ember.__path__, "ember.")]
    names = ["ember"] + [name for name in found if not LEFT_OUT & set(name.split("."))]
    for name in names:
        tests.addTests(doctest.DocTestSuite(importlib.import_module(name)))
    for page in ("README.md", "TE.md"):
        path = Path(__file__).resolve().parent.parent / page
        if path.exists():
            tests.addTests(doctest.DocFileSuite(str(path), module_relative=False))
    return tests


if __name__ == "__main__":
    unittest.main()
