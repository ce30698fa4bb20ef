#!/bin/bash
# Makes a C program of a model, builds it for a Cortex-M4F, runs it in qemu, and compares its result
# with that of tier 0.
#
# Usage: run.sh MODEL INPUT.bin [--shape=...]
#
# INPUT.bin has the elements of the model's only input; the model has one result. The tools are those
# in $PATH, or in the folder $EMBER_TOOLS. Files are written to the folder $WORK, by default a new one.
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
model="$(realpath "$1")" input="$(realpath "$2")"
flags=("${@:3}")
[[ -z "${EMBER_TOOLS:-}" ]] || PATH="$(realpath "$EMBER_TOOLS"):$PATH"
work="${WORK:-$(mktemp -d)}"
cd "$work"

# 16 KiB of the board's RAM are treated as a cache, so that kernels work on small parts of tensors.
vm-prejit "$model" "${flags[@]}" --target=c11+l1=16K --emit=c-program --symbol=model -o model.c

# No library of system calls is linked: a program that needed a heap or a file would not link.
compiler=(arm-none-eabi-gcc -std=c11 -O2 -mcpu=cortex-m4 -mthumb -mfpu=fpv4-sp-d16 -mfloat-abi=hard
  -Wall -Wextra -ffunction-sections -fdata-sections -I. "-I$here")
"${compiler[@]}" -c model.c -o model.o
"${compiler[@]}" -specs=nano.specs -nostartfiles -Wl,--gc-sections -Wl,-Map=model.map -T "$here/mps2_an386.ld" \
  "$here/main.c" "$here/board.c" "$here/startup.c" model.o -lm -o model.elf

# Prints the sum of the sections of a file whose names match.
bytes_of() { arm-none-eabi-size -A "$1" | awk -v names="$2" '$1 ~ names { sum += $2 } END { print sum + 0 }'; }
echo "model.c: $(bytes_of model.o '^\.text') bytes of code, $(bytes_of model.o '^\.rodata') of constants," \
  "$(bytes_of model.o '^\.(data|bss)') of RAM"
echo "program: $(bytes_of model.elf '^\.(text|data)$') bytes of flash," \
  "$(bytes_of model.elf '^\.(data|bss)$') of RAM, and the stack"

cp "$input" input.bin
# Each instruction takes 1 ns of the machine's time.
qemu-system-arm -M mps2-an386 -nographic -monitor none -serial none -icount shift=0 \
  -semihosting-config enable=on,target=native -kernel model.elf </dev/null

type_of() { awk -v name="^$1_?" '$1 == "*" && $2 ~ name { print $3; exit }' model.h; }
in_type="$(type_of in0)" out_type="$(type_of out0)"
vm-run "$model" "${flags[@]}" --tier=0 --print=none --input="$in_type=@input.bin" --output=@expected.bin
if cmp -s output.bin expected.bin; then
  echo "result: equal to tier 0, bit by bit"
elif [[ "$out_type" == *f32 ]]; then
  # Sums of floats may have another order than in tier 0.
  vm-run "$model" "${flags[@]}" --tier=0 --print=none --input="$in_type=@input.bin" \
    --expected="$out_type=@output.bin" --rtol=1e-5 --atol=1e-5
else
  echo "run.sh: the result differs from that of tier 0" >&2
  exit 1
fi
