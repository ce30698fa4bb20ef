#!/bin/bash
# tutorial_test.sh SCRIPT PAGE MODEL: runs the commands of a tutorial; see tutorial_test.py.
set -euo pipefail
python3 "$1" "$2" . tools "$3"
