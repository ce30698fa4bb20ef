#!/bin/bash
# Prints the stripped size of run_embedded and of its components, for each embedded target.
#
#   vm/embedded/size.sh [aarch64|armhf|riscv64]...      BAZEL_FLAGS="--output_base=..." for startup options
#
# The program as it ships links libc dynamically: every phone and board has one. The script also
# prints the size with libc linked statically, and for comparison that of an empty program.
set -euo pipefail
cd "$(dirname "$0")/../.."
script="$PWD/vm/embedded/size_by_component.py"
(($# > 0)) || set -- aarch64 armhf riscv64
# shellcheck disable=SC2206
startup=(${BAZEL_FLAGS:-})
root="$(bazel "${startup[@]}" info execution_root 2>/dev/null)"
bin="$(bazel "${startup[@]}" info bazel-bin 2>/dev/null)"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
echo 'int main() {}' >"$work/empty.c"
for arch in "$@"; do
  case "$arch" in
    aarch64) triple=aarch64-linux-gnu ;;
    armhf) triple=arm-linux-gnueabihf ;;
    riscv64) triple=riscv64-linux-gnu ;;
    *) echo "unknown target: $arch" >&2 && exit 2 ;;
  esac
  name="embedded_static_${arch}_test_bin"
  bazel "${startup[@]}" build --noshow_progress --ui_event_filters=-info "//vm/embedded:$name"
  program="$(readlink -f "$bin/vm/embedded/$name")"
  # Links the program again, with its symbols and with a linker map, from which the sizes of components are
  # computed.
  grep -vx -e -s "$program-2.params" >"$work/params"
  (cd "$root" && "$triple-gcc" @"$work/params" -o "$work/program" -Wl,-Map="$work/map")
  grep -vx -e -pie "$program-2.params" >"$work/params"
  (cd "$root" && "$triple-gcc" @"$work/params" -static -o "$work/static")
  "$triple-gcc" -Os -s -static -Wl,--gc-sections "$work/empty.c" -o "$work/empty"
  echo "$arch: $(stat -c %s "$program") bytes stripped; with libc inside $(stat -c %s "$work/static"), of which an empty program has $(stat -c %s "$work/empty")"
  "$triple-nm" -CS "$work/program" >"$work/symbols"
  python3 "$script" "$work/map" "$work/symbols"
  echo "largest functions and tables:"
  "$triple-nm" -CS --size-sort --reverse-sort "$work/program" | head -n 20 |
    while read -r _ size kind symbol; do printf '%8d %s %.100s\n' "$((16#$size))" "$kind" "$symbol"; done
done
