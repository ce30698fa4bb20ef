#!/bin/bash
# Kills vm-tune and its workers a few times, and checks its records after each kill
# (tools/tune_kills.py). ./dev tune-kills does it 100 times.
set -euo pipefail
tools/vm-compile samples/digits/digits.onnx -o "$TEST_TMPDIR/digits.vmfb"
EMBER_BIN=tools python3 tools/tune_kills.py "$TEST_TMPDIR/digits.vmfb" --count=4 --seed=3
