#!/bin/bash
# run_tests.sh BUILD_WHEEL.PY MODULE LIBRARY...: builds the package with these libraries into a temporary
# folder, and runs the tests beside this file. MODULE is a file in the folder of modules that earlier versions
# wrote. The tests are skipped, with the reason, if this machine's Python cannot build or run the package.
set -euo pipefail
build="$(realpath "$1")" modules="$(dirname "$(realpath "$2")")"
sources="$(dirname "$build")"
shift 2
tests="$(dirname "$(realpath "${BASH_SOURCE[0]}")")"
python=/usr/bin/python3
skip() {
  echo "SKIPPED: $1 is missing; apt-get install $2"
  exit 0
}
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || skip "Python 3.11" python3
"$python" -c 'import cffi' 2>/dev/null || skip cffi python3-cffi
"$python" -c 'import numpy' 2>/dev/null || skip numpy python3-numpy
"$python" -c 'import sysconfig, pathlib, sys; sys.exit(not pathlib.Path(sysconfig.get_paths()["include"], "Python.h").exists())' ||
  skip Python.h python3-dev
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
"$python" -B "$build" --stage --out="$folder" --libraries "$@"
export PYTHONPATH="$folder:$tests:$sources" PYTHONDONTWRITEBYTECODE=1 EMBER_TEST_MODULES="$modules"
"$python" -W error -m unittest discover -s "$tests" -p 'test_*.py' -v
