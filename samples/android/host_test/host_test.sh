#!/bin/bash
# host_test.sh LIBRARY MODEL JAVA...: compiles the Java files and runs ModelTest with the JNI library, on this machine.
# KERNELS (environment): a shared object with kernels of the model for this machine; without it they are not tested.
set -euo pipefail
library="$(realpath "$1")" model="$(realpath "$2")" kernels=()
[[ -z "${KERNELS:-}" ]] || kernels=("$(realpath "$KERNELS")")
shift 2
work="${TEST_TMPDIR:-$(mktemp -d)}"
mkdir -p "$work/classes"
javac -Werror -Xlint:all -d "$work/classes" "$@"
java -Xcheck:jni -ea -cp "$work/classes" -Djava.library.path="$(dirname "$library")" ModelTest "$model" "${kernels[@]}" | tee "$work/output.txt"
grep -q '^ModelTest: all checks passed$' "$work/output.txt"
# -Xcheck:jni prints warnings but does not make the program fail, so the test looks for them.
if grep -E '^(WARNING|FATAL)' "$work/output.txt"; then exit 1; fi
