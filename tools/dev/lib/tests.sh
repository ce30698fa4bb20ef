# Functions for the commands that run tests and count their cases. shellcheck
# shell=bash

# One entry "WHERE EVENTS STATUS" for each call of bazel_tests, for bazel/test_summary.py: the place
# where the tests ran, the file of build events, and the exit status.
TEST_RUNS=()

# Number of minutes after the script's start at which tests are stopped; empty:
# they are not.
TEST_MINUTES=""

# Calls `bazel test` with all arguments but the first, which says where the tests run ("" is this machine). The exit
# status is 0 if TEST_MINUTES stopped tests that had not failed; count_tests counts them.
bazel_tests() {
  local where="$1" events flags=(--keep_going) limit=() status=0
  shift
  # timeout runs bazel in a background process group unless --foreground is given, and bazel would
  # stop there.
  [[ -z "$TEST_MINUTES" ]] ||
    limit=(timeout --foreground --signal=INT --kill-after=60 $((60 * TEST_MINUTES > SECONDS ? 60 * TEST_MINUTES - SECONDS : 1)))
  # In CI no progress lines are printed: a log file does not need a line every second.
  [[ -z "${CI:-}" ]] || flags+=(--color=no --curses=no --show_progress_rate_limit=20)
  events="$(mktemp)"
  "${limit[@]}" bazel test "${flags[@]}" --build_event_json_file="$events" "$@" || status=$?
  TEST_RUNS+=("$where" "$events" "$status")
  # The exit status is 124 if `timeout` stopped Bazel. Then the results of the
  # tests that have run decide, in count_tests.
  ((status == 124)) || return "$status"
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
