"""Tests that vm-compile and vm-prejit leave nothing behind when a signal ends them (interrupt_tools.py), with a small model, and
that the check itself finds what a careless program leaves."""

import os
import signal
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import interrupt_tools  # noqa: E402

MODEL = os.path.abspath("samples/digits/digits.onnx")
# A program with each fault that interrupt_tools must find: it writes half of the
# output, and leaves a file and a child process when the signal ends it.
CARELESS = """
import os, signal, subprocess, sys
with open("x.tmp", "w") as file:
    file.write("half")
subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], start_new_session=True)
with open("x", "w") as file:
    file.write("half of it")
os.kill(os.getpid(), signal.SIGTERM)
"""


def tool(name: str) -> str:
    return os.path.abspath(os.path.join("tools", name))


class InterruptTest(unittest.TestCase):
    def interrupted(self, command: list[str], output: str, number: signal.Signals) -> None:
        for result in interrupt_tools.run(command, output, moments=10, seed=7, number=number):
            self.assertEqual(result.problems, [], "at %.4f s" % result.moment)

    def test_compile(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
            self.interrupted([tool("vm-compile"), MODEL, "-o", "m.vmfb"], "m.vmfb", number)

    def test_prejit(self):
        command = [tool("vm-prejit"), MODEL, "--target=host", "-o", "m.vmfb"]
        self.interrupted(command, "m.vmfb", signal.SIGINT)

    def test_finds_what_is_left(self):
        with tempfile.TemporaryDirectory() as folder:
            script = Path(folder, "careless.py")
            script.write_text(CARELESS)
            interrupt_tools._GRACE = 0.2
            result = interrupt_tools.interrupt([sys.executable, str(script)], "x", 60, signal.SIGTERM, b"whole")
        found = "; ".join(result.problems)
        self.assertIn("left x.tmp", found)
        self.assertIn("are alive", found)
        self.assertIn("neither the old nor the new", found)
        os.kill(int(found.split("[")[1].split("]")[0]), signal.SIGKILL)


if __name__ == "__main__":
    unittest.main()
