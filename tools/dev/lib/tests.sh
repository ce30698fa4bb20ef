# Shared by the commands that run tests and count their cases.
# shellcheck shell=bash

# One entry "WHERE EVENTS STATUS" for each call of bazel_tests, for bazel/test_summary.py: the place
# where the tests ran, the file of build events, and the exit status.
TEST_RUNS=()

# Calls `bazel test` with all arguments but the first, which says where the tests run ("" is this machine).
bazel_tests() {
  local where="$1" events flags=(--keep_going) status=0
  shift
  # In CI no progress lines are printed: a log file does not need a line every second.
  [[ -z "${CI:-}" ]] || flags+=(--color=no --curses=no --show_progress_rate_limit=20)
  events="$(mktemp)"
  bazel test "${flags[@]}" --build_event_json_file="$events" "$@" || status=$?
  TEST_RUNS+=("$where" "$events" "$status")
  return "$status"
}

# Prints the failed tests of all entries of TEST_RUNS and the arguments, which are failed checks
# outside of Bazel. The last line is "N passed, N failed, N skipped".
count_tests() {
  local i status=0
  python3 bazel/test_summary.py "${@/#/--failed=}" "${TEST_RUNS[@]}" || status=$?
  for ((i = 1; i < ${#TEST_RUNS[@]}; i += 3)); do rm -f "${TEST_RUNS[i]}"; done
  TEST_RUNS=()
  return "$status"
}
