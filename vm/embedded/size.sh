#!/bin/bash
# Stripped size of run_embedded and what it consists of, for each embedded target.
#
#   vm/embedded/size.sh [aarch64|armhf]...      BAZEL_FLAGS="--output_base=..." for startup options
set -euo pipefail
cd "$(dirname "$0")/../.."
map="$(mktemp /tmp/run_embedded.XXXXXX.map)"
trap 'rm -f "$map"' EXIT
for arch in "${@:-aarch64 armhf}"; do
  for one in $arch; do
    # The map is written where the linker runs: not in a sandbox, not from a cache.
    # shellcheck disable=SC2086
    bazel ${BAZEL_FLAGS:-} build --noshow_progress --ui_event_filters=-info --config="$one" \
      --features=tiny --copt=-Os --strategy=CppLink=local --noremote_accept_cached \
      --linkopt="-Wl,-Map=$map" //vm/embedded:run_embedded
    # shellcheck disable=SC2086
    program="$(bazel ${BAZEL_FLAGS:-} info --config="$one" bazel-bin 2>/dev/null)/vm/embedded/run_embedded"
    echo "$one: $(stat -Lc %s "$program") bytes stripped"
    python3 vm/embedded/size_by_component.py "$map"
  done
done
