"""Runs ONNX's own backend suite through Python, and compares its list of passed cases with the C++ runner's.

    PYTHONPATH=STAGED_PACKAGE python3 python/checks/onnx_suite.py --data=DIR --runner=conformance.json

DIR: the folder with the suite's files (Debian: libonnx-testdata). conformance.json: what the C++ runner has written for
the corpus (bazel run //tests/onnx:conformance -- --json=FILE); its cases are those of a newer version of ONNX, so that
one of the same name may have another model. `./dev python onnx` does all of it.

The suite calls prepare() without the inputs. A case whose model does not say the shapes, or the values, that it needs
is run again with those of its data, as the C++ runner does, and is marked. The exit status is 1 if the lists differ.
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import re
import sys
import unittest
import warnings
from typing import Any

import ember
import numpy as np
import onnx

# Debian 12's onnx uses names that newer versions of NumPy do not have.
for _name, _kind in (("float", float), ("object", object), ("bool", bool), ("int", int)):
    if _name not in np.__dict__:
        setattr(np, _name, _kind)

import ember.onnx_backend as backend  # noqa: E402
import onnx.backend.test.loader as loader  # noqa: E402
import onnx.backend.test.runner as runner  # noqa: E402

KINDS = ("node", "simple", "pytorch-converted", "pytorch-operator")
# Results of these cases are random; the C++ runner compares only their types and shapes.
RANDOM = re.compile("bernoulli|training_dropout|random_uniform|random_normal|multinomial")
# In Debian 12's onnx 1.12 these cases are wrong: shapes of bf16 values, a tolerance, and a scalar in a sequence, whose
# length the suite asks for.
WRONG = re.compile("castlike_(BFLOAT16_to|FLOAT_to_BFLOAT16)|adam_multiple|loop16_seq_none")


class HelpedBackend(backend.EmberBackend):
    """The adapter, which compiles a model again with what the inputs show if it cannot be compiled without that."""

    tier = "interpreter"
    helped: dict[str, str] = {}
    case = ""

    @classmethod
    def is_compatible(cls, model: onnx.ModelProto, device: str = "CPU", **options: Any) -> bool:
        # Accepts every model for the device. The adapter's own check would skip models that compile
        # only with what their inputs show, which prepare() handles.
        return cls.supports_device(device)

    @classmethod
    def prepare(cls, model: onnx.ModelProto, device: str = "CPU", **options: Any) -> Any:
        try:
            return super().prepare(model, device, tier=cls.tier, **options)
        except ember.CompileError as error:
            return _Later(model, error)

    @classmethod
    def prepare_again(cls, model: onnx.ModelProto, how: str, **options: Any) -> Any:
        made = super().prepare(model, "CPU", tier=cls.tier, **options)
        cls.helped[cls.case] = how
        return made


class _Later:
    """A model that is compiled when its inputs are known."""

    def __init__(self, model: onnx.ModelProto, error: Exception):
        self._model, self._error = model, error

    def run(self, inputs: Any) -> Any:
        names = [i.name for i in self._model.graph.input if i.name not in {t.name for t in self._model.graph.initializer}]
        given = dict(zip(names, inputs))
        shapes: dict[str, Any] = {}
        for name, value in given.items():
            if isinstance(value, list):
                shapes[name] = ("?",) * max((np.ndim(v) for v in value), default=0)
            else:
                shapes[name] = np.shape(value)
        try:
            return HelpedBackend.prepare_again(self._model, "dims pinned", inputs=shapes).run(inputs)
        except ember.Error:
            pass
        small = {n: v for n, v in given.items() if isinstance(v, np.ndarray) and v.dtype.kind in "iub" and v.size < 64}
        if not small:
            raise self._error
        rest = {n: s for n, s in shapes.items() if n not in small}
        made = HelpedBackend.prepare_again(self._model, "inputs compiled in", inputs=rest, constants=small)
        return made.run([v for n, v in given.items() if n in rest])


class _Result(unittest.TestResult):
    """Collects the outcome of each case."""

    def __init__(self) -> None:
        super().__init__()
        self.outcomes: dict[str, str] = {}

    @staticmethod
    def name_of(test: unittest.TestCase) -> str:
        return re.sub("_cpu$", "", test.id().split(".")[-1])

    def startTest(self, test: unittest.TestCase) -> None:  # noqa: N802 (unittest's name)
        super().startTest(test)
        HelpedBackend.case = self.name_of(test)

    def addSuccess(self, test: unittest.TestCase) -> None:  # noqa: N802
        self.outcomes[self.name_of(test)] = "passed"

    def _fail(self, test: unittest.TestCase, error: Any) -> None:
        lines = [line.strip() for line in str(error[1]).split("\n") if line.strip()]
        self.outcomes[self.name_of(test)] = lines[0] if lines else type(error[1]).__name__

    addError = addFailure = _fail  # type: ignore[assignment]  # noqa: N815

    def addSkip(self, test: unittest.TestCase, reason: str) -> None:  # noqa: N802
        self.outcomes[self.name_of(test)] = f"skipped: {reason}"


def run_suite(folder: str, pattern: str) -> dict[str, str]:
    """Runs the suite's cases, except those whose models would be downloaded, and returns the outcome by name."""
    loader.DATA_DIR = folder
    suite = runner.Runner(HelpedBackend, __name__)
    tests = unittest.TestSuite()
    kinds = [kind.replace("-", "").lower() for kind in KINDS]
    for name, case in suite.test_cases.items():
        kind = re.sub("onnxbackend|model|test", "", name.lower())
        if kind not in kinds:
            continue
        for test in unittest.defaultTestLoader.loadTestsFromTestCase(case):
            if test.id().endswith("_cpu") and re.search(pattern, test.id()):
                tests.addTest(test)
    result = _Result()
    tests.run(result)
    return result.outcomes


def compare(found: dict[str, str], path: str) -> int:
    """Prints the cases that only one of the two runs has passed, and returns their number."""
    with open(path, encoding="utf-8") as file:
        records = json.load(file)
    runner_says = {r["case"].split("/")[-1]: r for r in records}
    both = sorted(set(found) & set(runner_says))
    differences = 0
    print(f"{len(found)} cases in Python's suite, {len(runner_says)} in the corpus, {len(both)} in both")
    counts: collections.Counter[str] = collections.Counter()
    for name in both:
        record = runner_says[name]
        in_python, in_cpp = found[name] == "passed", record["result"] == "passed"
        if RANDOM.search(name) or WRONG.search(name):
            counts["random" if RANDOM.search(name) else "wrong in this version of onnx"] += 1
            continue
        counts[f"Python {'passed' if in_python else 'failed'}, C++ {'passed' if in_cpp else 'failed'}"] += 1
        if in_python == in_cpp:
            continue
        differences += 1
        print(f"DIFFERENT {name}: Python: {found[name]}; C++: {record['result']} {record['message']}")
    for text, count in counts.most_common():
        print(f"{count:>6}  {text}")
    return differences


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", required=True, help="Finds the suite's files in this folder.")
    parser.add_argument("--runner", help="Compares with this JSON of the C++ runner.")
    parser.add_argument("--filter", default="", help="Runs only cases whose names match this expression.")
    parser.add_argument("--tier", default="interpreter", help="Runs on this tier.")
    options = parser.parse_args()
    if not os.path.isdir(os.path.join(options.data, "node")):
        parser.error(f"--data: expected a folder with the folder node, found {options.data}")
    warnings.simplefilter("ignore")
    HelpedBackend.tier = options.tier
    found = run_suite(options.data, options.filter)
    failed = {name: text for name, text in found.items() if text != "passed"}
    for name, text in sorted(failed.items()):
        print(f"NOT PASSED {name}: {text}")
    helped = collections.Counter(HelpedBackend.helped.values())
    print(f"passed with help: {dict(helped)}: {', '.join(sorted(HelpedBackend.helped))}")
    print(f"{len(found) - len(failed)} passed, {len(failed)} failed")
    return 1 if options.runner and compare(found, options.runner) else 0


if __name__ == "__main__":
    sys.exit(main())
