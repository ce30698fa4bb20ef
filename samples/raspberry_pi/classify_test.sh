#!/bin/bash
# classify_test.sh PROGRAM MODEL IMAGE: recognises a drawn seven, and checks the messages for bad
# files.
set -euo pipefail
program="$1" model="$2" image="$3"
work="${TEST_TMPDIR:-$(mktemp -d)}"

"$program" "$model" "$image" --top=2 --expect=7 | tee "$work/output.txt"
grep -qE '^84x84 image, [0-9.]+ ms$' "$work/output.txt"
[[ "$(wc -l <"$work/output.txt")" == 3 ]]

# Checks that labels are printed, that a coloured image gives the same class, and that the
# probabilities made of logits add up to 1.
printf '%s\n' zero one two three four five six seven eight nine >"$work/labels.txt"
"$program" "$model" "$image" --top=1 --labels="$work/labels.txt" | grep -qE '^ +[0-9.]+  7  seven$'
{
  printf 'P6 84 84 255\n'
  tail -c 7056 "$image" | od -An -v -tx1 -w1 | sed 's/ \(..\)/\\x\1\\x\1\\x\1/' | tr -d '\n' | { IFS= read -r text || true; printf '%b' "$text"; }
} >"$work/colour.ppm"
"$program" "$model" "$work/colour.ppm" --expect=7
"$program" "$model" "$image" --softmax --top=10 | awk 'NR > 1 { sum += $1 } END { exit !(sum > 0.998 && sum < 1.002) }'

# Checks that the program fails. $1 is a text that stderr must contain; the remaining arguments are
# the program's.
fails() {
  local expected="$1"
  shift
  if "$program" "$@" 2>"$work/error.txt"; then
    echo "FAILED: expected an error: $expected" >&2
    exit 1
  fi
  cat "$work/error.txt"
  grep -qF "$expected" "$work/error.txt"
}
fails 'expected another class' "$model" "$image" --expect=3
fails 'it cannot be opened' "$model" "$work/missing.ppm"
fails 'expected a binary PPM' "$model" "$model"
head -c 3000 "$image" >"$work/short.pgm"
fails 'it ends before its last pixel' "$model" "$work/short.pgm"
printf 'P5 99999999 1 255\n' >"$work/wide.pgm"
fails 'expected a width and height' "$model" "$work/wide.pgm"
fails 'module file' "$image" "$image"
fails 'usage: classify' "$model"
fails 'usage: classify' "$model" "$image" --std=0,1,1
if "$program" "$model" "$image" >/dev/full 2>"$work/error.txt"; then
  echo "FAILED: results that were lost were no error" >&2
  exit 1
fi
grep -q 'cannot be written' "$work/error.txt"
