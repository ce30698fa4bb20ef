# The files that ./dev format and ./dev lint work on.
# shellcheck shell=bash

# Prints our files that match, with NUL between: tracked or new, not ignored, not deleted.
our_files() {
  git ls-files -z --cached --others --exclude-standard -- "$@" | while IFS= read -r -d '' f; do
    [[ ! -f "$f" ]] || printf '%s\0' "$f"
  done
}
cc_files() { our_files '*.cc' '*.h' '*.c'; }
bazel_files() { our_files 'BUILD' '*/BUILD' 'WORKSPACE' '*/WORKSPACE' '*.bzl'; }
