# Installs the newer Mesa on which ./dev lavapipe and CI run tests of Vulkan.
# shellcheck shell=bash

# These test targets need features of Vulkan that Debian 12's Mesa lacks. CI runs them
# on the newer Mesa.
MATRIX_TESTS=(//jit/spirv:matrices_test //jit/spirv:nest_test //tests/nests:conformance_test_spirv //tests/cases:cases_test //hal/vulkan:all)

# Flags of `bazel test` for tests on the newer Mesa. Results are not cached, because Bazel does not
# see changes to the folder in which that Mesa is installed. Tests run without a sandbox, because a
# sandbox would show them this machine's /usr. Vulkan's validation layers make the first runs of
# large modules slower.
LAVAPIPE_FLAGS=(
  --cache_test_results=no --strategy=TestRunner=local
  --test_env=EMBER_LAVAPIPE_ROOT --test_env=EMBER_VULKAN_VALIDATION
  "--run_under=$PWD/tests/newer_lavapipe.sh run"
)

# Exports the folder in which the newer Mesa is installed, and the choice of
# validation layers.
name_lavapipe() {
  export EMBER_LAVAPIPE_ROOT="${EMBER_LAVAPIPE_ROOT:-$CACHE/lavapipe}"
  export EMBER_VULKAN_VALIDATION="${EMBER_VULKAN_VALIDATION-1}"
}

# Makes the folder of the newer Mesa if it is missing, within a number of seconds (0 means no
# limit), and checks that commands run in it. If that fails, the last line of the output says why.
need_lavapipe() {
  local status=0
  [[ -e "$EMBER_LAVAPIPE_ROOT/.complete" ]] || ((EUID != 0)) || install_packages debootstrap
  timeout "$1" tests/newer_lavapipe.sh setup || status=$?
  ((status != 124)) || die "making $EMBER_LAVAPIPE_ROOT took more than $1 s"
  ((status == 0)) || exit "$status"
  tests/newer_lavapipe.sh run true || exit 1
}
