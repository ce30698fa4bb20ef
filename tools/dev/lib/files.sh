# Lists the files that ./dev format and ./dev lint check. shellcheck shell=bash

# Prints the files of the repository whose names match the patterns, separated by NUL:
# tracked and new files, without ignored and deleted ones.
our_files() {
  git ls-files -z --cached --others --exclude-standard -- "$@" | while IFS= read -r -d '' f; do
    [[ ! -f "$f" ]] || printf '%s\0' "$f"
  done
}
cc_files() { our_files '*.cc' '*.h' '*.c'; }
bazel_files() { our_files 'BUILD' '*/BUILD' 'WORKSPACE' '*/WORKSPACE' '*.bzl'; }
