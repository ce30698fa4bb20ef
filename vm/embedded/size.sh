#!/bin/bash
# Stripped size of run_embedded and what it consists of, for each embedded target.
#
#   vm/embedded/size.sh [aarch64|armhf]...      BAZEL_FLAGS="--output_base=..." for startup options
set -euo pipefail
cd "$(dirname "$0")/../.."
script="$PWD/vm/embedded/size_by_component.py"
(($# > 0)) || set -- aarch64 armhf
# shellcheck disable=SC2206
startup=(${BAZEL_FLAGS:-})
root="$(bazel "${startup[@]}" info execution_root 2>/dev/null)"
bin="$(bazel "${startup[@]}" info bazel-bin 2>/dev/null)"
for arch in "$@"; do
  case "$arch" in
    aarch64) compiler=aarch64-linux-gnu-gcc ;;
    armhf) compiler=arm-linux-gnueabihf-gcc ;;
    *) echo "unknown target: $arch" >&2 && exit 2 ;;
  esac
  name="run_static_${arch}_test_bin"
  bazel "${startup[@]}" build --noshow_progress --ui_event_filters=-info "//vm/embedded:$name"
  program="$(readlink -f "$bin/vm/embedded/$name")"
  echo "$arch: $(stat -c %s "$program") bytes stripped"
  # The link again, with a map.
  map="$(mktemp)"
  (cd "$root" && "$compiler" @"$program-2.params" -o /dev/null -Wl,-Map="$map")
  python3 "$script" "$map"
  rm -f "$map"
done
