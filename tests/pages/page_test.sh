#!/bin/bash
# page_test.sh SCRIPT PAGE...: runs the commands of pages; see run_page.py.
set -euo pipefail
script="$1"
shift
python3 "$script" "$@"
