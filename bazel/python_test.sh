#!/bin/bash
# python_test.sh SCRIPT: runs a test in Python.
set -euo pipefail
python3 "$1"
