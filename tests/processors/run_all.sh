#!/bin/bash
# run_all.sh PROCESSOR SEEDS FIRST_SEED CORPUS: runs the tests of `./dev processors`. An empty
# PROCESSOR means all of them.
set -euo pipefail
only="$1" seeds="$2" first="$3" corpus="$4"

bazel build //jit/llvm:{code_generator,expanded_functions,random}_test \
  //tests/nests:conformance_test //jit/llvm:foreign_server_{aarch64,armhf} //tests/processors:golden_dispatches
# Resolves the link bazel-bin: a build of another configuration would change the link while this
# script runs.
bin="$(readlink -f bazel-bin)"
mapfile -t processors < <("$bin/tests/processors/golden_dispatches" --list)
models=()
for model in "$corpus"/models/onnx/*/*/model.onnx; do
  [[ ! -f "$model" ]] || models+=("$(dirname "$model")")
done

logs="$(mktemp -d)"
summary=() failed=0 matched=0

# Runs a command. Prints only those lines of its output that are about kernels, or all of them if
# the command fails.
check() {
  local log="$logs/log" status=0
  "$@" >"$log" 2>&1 || status=$?
  while IFS= read -r line; do
    echo "$line"
    summary+=("$line")
  done < <(grep -E "kernels run|^wrong: |^NOT RUN: " "$log" | sort -u)
  if ((status)); then
    cat "$log"
    line="FAILED ($status): $EMBER_TEST_PROCESSOR: $*"
    echo "$line"
    summary+=("$line")
    failed=$((failed + 1))
  fi
}

for processor in "${processors[@]}"; do
  [[ -z "$only" || "$processor" == "$only" ]] || continue
  matched=$((matched + 1))
  export EMBER_TEST_PROCESSOR="$processor" EMBER_SEEDS="$seeds" EMBER_FIRST_SEED="$first"
  case "$processor" in
    aarch64-*) export EMBER_TEST_SERVER="$bin/jit/llvm/foreign_server_aarch64" ;;
    armv7-*) export EMBER_TEST_SERVER="$bin/jit/llvm/foreign_server_armhf" ;;
    wasm32-*) export EMBER_TEST_SERVER="$PWD/jit/llvm/testing/wasm_server.mjs" ;;
    *) unset EMBER_TEST_SERVER ;;
  esac
  for test in code_generator expanded_functions random; do
    check "$bin/jit/llvm/${test}_test"
  done
  check "$bin/tests/nests/conformance_test" '--gtest_filter=*/llvm'
  if ((${#models[@]} > 0)); then
    check "$bin/tests/processors/golden_dispatches" "${models[@]}"
  else
    summary+=("NOT RUN: $processor: dispatches of recorded models, as there are none below $corpus")
  fi
done
rm -rf "$logs"

if ((matched == 0)); then
  echo "expected one of ${processors[*]}, found '$only'" >&2
  exit 2
fi
echo
echo "Seeds from $first on:"
printf '%s\n' "${summary[@]}" | sort -u
((failed == 0))
