#!/bin/bash
# cortex_m_test.sh RUN CLASSIFIER DIGITS: builds the sample for two models, runs it in qemu, and
# checks what it prints. It is skipped if the cross compiler or qemu is missing.
set -euo pipefail
run="$PWD/$1" classifier="$PWD/$2" digits="$PWD/$3" EMBER_TOOLS="$PWD/tools"
export EMBER_TOOLS EMBER_CACHE=
for program in arm-none-eabi-gcc qemu-system-arm; do
  if ! command -v "$program" >/dev/null; then
    echo "skipped: expected $program, found none; ./dev setup --for=cortex_m installs it"
    exit 0
  fi
done
cd "$(mktemp -d -p "${TEST_TMPDIR:-/tmp}")"

# Prints $1 bytes that are the same each time.
bytes() { awk -v count="$1" 'BEGIN { for (i = 0; i < count; ++i) printf "%03o\n", (i * i * 7 + i * 13) % 251 }' |
  while read -r byte; do printf '%b' "\\0$byte"; done; }

# Runs the sample. $1 is its folder; the other arguments are those of run.sh.
runs() {
  mkdir "$1"
  WORK="$PWD/$1" "$run" "${@:2}" >"$1/printed" 2>&1 || {
    cat "$1/printed"
    echo "FAILED: $1" >&2
    exit 1
  }
  cat "$1/printed"
}

python3 "$classifier" >int8.txt
bytes 144 >int8.bin
runs int8 int8.txt int8.bin
grep -qxF 'result: equal to tier 0, bit by bit' int8/printed
grep -qE '^ticks of 40 ns: [1-9][0-9]*$' int8/printed

# 3136 bytes of zeros are 28 x 28 floats.
head -c 3136 /dev/zero >digits.bin
runs digits "$digits" digits.bin --shape=image=1x1x28x28
grep -qE '^result: equal to tier 0|is as expected' digits/printed

# The constants and the arena are as large as vm-prejit has printed. Its number of constants is an
# upper bound, because each array is rounded up.
for model in int8 digits; do
  awk '
    /^flash: / { constants = $2 }
    /^RAM: .* of arena/ { arena = $2 }
    /^model.c: .* bytes of code/ { compiled = $6; ram = $9 }
    END { exit !(ram == arena && compiled <= constants && compiled > constants * 0.9) }
  ' "$model/printed" || {
    echo "FAILED: $model needs other memory than vm-prejit has printed" >&2
    exit 1
  }
done
