# Functions for the commands that need the Python package. shellcheck shell=bash

# The native libraries of the Python package, as paths below bazel-bin.
PYTHON_LIBRARIES=(vm/api/libember.so vm/api/libember_strings.so tools/compiler_api/libember_compiler.so
  jit/libember_jit.so jit/llvm/library/libember_llvm.so jit/worker/ember-compile-worker)

# Prints the Bazel target of each entry of PYTHON_LIBRARIES.
python_targets() {
  local name
  for name in "${PYTHON_LIBRARIES[@]}"; do printf '//%s:%s\n' "${name%/*}" "${name##*/}"; done
}

# Sets STAGED to a folder with the Python package and PYTHON_LIBRARIES, for Debian's python3 of this machine. The
# argument is the folder of what Bazel has built.
stage_python() {
  STAGED="$PWD/.cache/python"
  rm -rf "$STAGED"
  /usr/bin/python3 -B python/build_wheel.py --stage --out="$STAGED" --libraries "${PYTHON_LIBRARIES[@]/#/$1/}"
}

# Builds PYTHON_LIBRARIES and stages the Python package (stage_python).
need_staged() {
  local targets
  need_setup test
  mapfile -t targets < <(python_targets)
  bazel build "${targets[@]}"
  stage_python "$(bazel_bin)"
}
