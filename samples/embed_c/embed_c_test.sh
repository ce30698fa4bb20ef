#!/bin/bash
# embed_c_test.sh PROGRAM MODEL: checks that the program prints the output that the README shows,
# and an error for a file that is no module.
set -euo pipefail
output="$("$1" "$2")"
echo "$output"
grep -q '^input  image \[N, 1, 28, 28\]$' <<<"$output"
grep -qE '^result probabilities:( [0-9.e-]+){10}$' <<<"$output"
if "$1" "$0" 2>"${TEST_TMPDIR:-/tmp}/error.txt"; then
  echo "FAILED: a script was taken for a module" >&2
  exit 1
fi
cat "${TEST_TMPDIR:-/tmp}/error.txt"
grep -q ': module file: expected ' "${TEST_TMPDIR:-/tmp}/error.txt"
if "$1" "$2" >/dev/full 2>"${TEST_TMPDIR:-/tmp}/error.txt"; then
  echo "FAILED: results that were lost were no error" >&2
  exit 1
fi
grep -qx 'cannot write to stdout' "${TEST_TMPDIR:-/tmp}/error.txt"
