# Functions and variables that the commands of ./dev share: messages, packages, and folders. A
# command sources this file first. shellcheck shell=bash
set -euo pipefail
ROOT="$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../../.." && pwd)"
cd "$ROOT"

# The folder with the recorded models and the scripts that measure other engines. By default it is
# next to the checkout of this repository.
SHARED="${EMBER_SHARED:-../shared}"

BUILDIFIER_VERSION=8.2.1
ORT_VERSION=1.30.0

# Debian packages in groups (run, test, docs, opencl, all), so that a first `./dev run` installs only what
# it needs.
PACKAGES_RUN=(
  bazel-bootstrap bazel-platforms bazel-rules-java bazel-rules-proto bazel-skylib g++-12 python3
  llvm-19-dev libzstd-dev libabsl-dev libflatbuffers-dev flatbuffers-compiler nlohmann-json3-dev
  libjpeg62-turbo-dev libopenjp2-7-dev libpcre2-dev libpng-dev libprotobuf-dev protobuf-compiler libre2-dev libsnappy-dev libsodium-dev libsqlite3-dev libtiff-dev libutf8proc-dev libwebp-dev
  libvulkan-dev spirv-tools spirv-headers
  zlib1g-dev
)
PACKAGES_TEST=(
  libgtest-dev libgmock-dev libbenchmark-dev mesa-vulkan-drivers vulkan-validationlayers
  qemu-user g++-aarch64-linux-gnu g++-arm-linux-gnueabihf g++-riscv64-linux-gnu
  python3-cffi python3-dev python3-numpy python3-onnx python3-setuptools
  python3-sklearn python3-xgboost
)
PACKAGES_DOCS=(python3-sphinx python3-myst-parser furo)
# The servers and the client library of a tuning fleet. Without them vm-tune has no nats:// addresses.
PACKAGES_FLEET=(iproute2 libnats-dev munge nats-server slurm-wlm)
# The compiler and the libraries for WebAssembly (toolchains/wasm_cc_config.bzl).
PACKAGES_BROWSER=(binaryen clang-19 lld-19 llvm-19 wasi-libc libc++-19-dev-wasm32 libc++abi-19-dev-wasm32 libclang-rt-19-dev-wasm32)
# An OpenCL driver that runs on CPUs. Without it tests on OpenCL devices are skipped.
PACKAGES_OPENCL=(ocl-icd-libopencl1 pocl-opencl-icd opencl-headers)
# A compiler, a C library and an emulator for Cortex-M. samples/cortex_m is not tested without them.
PACKAGES_CORTEX_M=(gcc-arm-none-eabi libnewlib-arm-none-eabi qemu-system-arm)
PACKAGES_LINT=(git clang-19 lld-19 libclang-rt-19-dev clang-format-19 clang-tidy-19)

: "${HOME:=/root}"
export HOME
CACHE="${XDG_CACHE_HOME:-$HOME/.cache}/ember"

say() { printf 'ember: %s\n' "$*" >&2; }

die() {
  say "$*"
  exit 1
}

as_root() {
  if ((EUID == 0)); then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    die "not root, and no sudo here; run as root: $*"
  fi
}

# Prints those of its arguments that name packages that are not installed.
missing_packages() {
  command -v dpkg-query >/dev/null || die "this is no Debian; Ember builds on Debian 12 (bookworm)"
  local installed
  installed="$(dpkg-query -W -f='${db:Status-Status} ${Package}\n' "$@" 2>/dev/null | sed -n 's/^installed //p')" || true
  comm -23 <(printf '%s\n' "$@" | sort -u) <(sort -u <<<"$installed")
}

install_packages() {
  local missing
  mapfile -t missing < <(missing_packages "$@")
  ((${#missing[@]} > 0)) || return 0
  say "installing ${#missing[@]} packages: ${missing[*]}"
  export DEBIAN_FRONTEND=noninteractive
  as_root apt-get -qq update
  # stdin is no terminal, so that dpkg prints no progress, which would fill the
  # log of CI.
  as_root apt-get -qq install -y --no-install-recommends "${missing[@]}" </dev/null >"$CACHE/apt.log" 2>&1 || {
    tail -n 20 "$CACHE/apt.log" >&2
    die "apt-get failed; all of its output is in $CACHE/apt.log"
  }
}

# Sets BUILDIFIER to the path of buildifier, and installs buildifier if it is missing.
need_buildifier() {
  local dir="$CACHE/buildifier-$BUILDIFIER_VERSION" arch=amd64
  [[ "$(uname -m)" != aarch64 ]] || arch=arm64
  BUILDIFIER="$dir/node_modules/@bazel/buildifier/buildifier-linux_$arch"
  if [[ ! -x "$BUILDIFIER" ]]; then
    command -v npm >/dev/null || install_packages npm
    say "installing buildifier $BUILDIFIER_VERSION from npm"
    npm install --silent --no-save --prefix "$dir" "@bazel/buildifier@$BUILDIFIER_VERSION" >/dev/null
    chmod +x "$BUILDIFIER"
  fi
}

# Installs the JavaScript libraries of vm-report's page, with the versions and checksums of
# third_party/report_page. Bazel looks for them in this folder (third_party/system/repos.bzl).
need_report_page() {
  local dir="$CACHE/report-page" lock=third_party/report_page/package-lock.json
  ! cmp -s "$lock" "$dir/package-lock.json" || return 0
  command -v npm >/dev/null || install_packages npm
  say "installing the libraries of vm-report's page from npm"
  rm -rf "$dir.new"
  mkdir -p "$dir.new"
  cp third_party/report_page/package.json "$lock" "$dir.new/"
  npm ci --silent --ignore-scripts --no-audit --no-fund --prefix "$dir.new" >/dev/null || return 1
  rm -rf "$dir"
  mv "$dir.new" "$dir"
  # Bazel caches what it finds in folders outside of the workspace, so it has to
  # be asked to look again.
  [[ ! -e bazel-out ]] || bazel --noblock_for_lock sync --configure >/dev/null 2>&1 ||
    say "bazel sync --configure makes Bazel see the libraries"
}

# Installs what a step needs and writes user.bazelrc: need_setup run, test, docs, report, fleet, browser,
# opencl, cortex_m or all.
need_setup() {
  local packages=("${PACKAGES_RUN[@]}")
  case "$1" in
    run | report) ;;
    test) packages+=("${PACKAGES_TEST[@]}") ;;
    docs) packages+=("${PACKAGES_TEST[@]}" "${PACKAGES_DOCS[@]}") ;;
    fleet) packages+=("${PACKAGES_FLEET[@]}") ;;
    browser) packages+=("${PACKAGES_BROWSER[@]}") ;;
    opencl) packages+=("${PACKAGES_TEST[@]}" "${PACKAGES_OPENCL[@]}") ;;
    cortex_m) packages+=("${PACKAGES_CORTEX_M[@]}") ;;
    all) packages+=("${PACKAGES_TEST[@]}" "${PACKAGES_LINT[@]}") ;;
    *) die "setup: --for=run, test, docs, report, fleet, browser, opencl, cortex_m or all" ;;
  esac
  mkdir -p "$CACHE"
  install_packages "${packages[@]}"
  # npm is 400 packages on Debian. So what comes from npm is installed here only if npm exists, or
  # if it was asked for. The commands lint and format install npm and buildifier when they need
  # them. Without the libraries of vm-report's page, Bazel leaves vm-report out of //....
  if [[ "$1" == report ]]; then
    need_report_page || die "npm could not install the libraries of vm-report's page"
  elif [[ "$1" != run ]] && command -v npm >/dev/null; then
    need_report_page || say "npm could not install the libraries of vm-report's page; ./dev setup --for=report tries again"
  fi
  if [[ "$1" == all ]] && command -v npm >/dev/null; then need_buildifier; fi
  if [[ ! -e user.bazelrc ]]; then
    printf '# Written by ./dev setup; yours to extend, git ignores it.\nbuild --disk_cache=%s\n' \
      "$CACHE/bazel" >user.bazelrc
  fi
}

# Prints what a command will take if nothing has been built in this checkout yet. Usage: say_cost
# MINUTES DISK.
say_cost() {
  [[ ! -e bazel-out ]] || return 0
  say "the first time this takes about $1 on two cores, and $2 of disk; later only what has changed is built"
}

# Prints the folder that bazel-bin points to, in which Bazel puts built
# programs.
bazel_bin() { bazel info "$@" bazel-bin 2>/dev/null; }

# Deletes the oldest files of Bazel's disk cache, which Bazel itself never does: a day of work fills
# 48 GiB. Linked programs get a smaller share of the space, because they are large and can be linked
# again in seconds.
trim_disk_cache() {
  [[ -d "$CACHE/bazel" ]] || return 0
  find "$CACHE/bazel" -type f -printf '%T@ %s %p\n' | sort -nr |
    awk -v most=$((16 << 30)) -v most_large=$((8 << 30)) '
      $2 >= 8 * 1024 * 1024 { if ((large += $2) > most_large) print $3; next }
      (small += $2) > most { print $3 }' |
    xargs -r rm -f
}

# Sets ORT to the folder of ONNX Runtime. ORT stays empty if ONNX Runtime, or the script that
# measures it, neither exists nor can be installed.
need_ort() {
  ORT=""
  export ORT_DIR="$CACHE/ort" ORT_BENCH="$SHARED/peers/ort_bench.mjs"
  [[ -f "$ORT_BENCH" ]] && command -v node npm >/dev/null || return 0
  if [[ ! -d "$ORT_DIR/node_modules/onnxruntime-node" ]]; then
    say "installing ONNX Runtime $ORT_VERSION from npm"
    npm install --silent --no-save --ignore-scripts --prefix "$ORT_DIR" \
      "onnxruntime-node@$ORT_VERSION" >/dev/null || return 0
  fi
  ORT="$ORT_DIR"
}

# Makes the model $CACHE/peer_models/$1.onnx and its inputs, unless the model exists.
need_peer_model() {
  [[ ! -f "$CACHE/peer_models/$1.onnx" ]] || return 0
  [[ -f "$SHARED/peers/gen_models.py" ]] || die "no $SHARED/peers/gen_models.py, which makes $1.onnx (set EMBER_SHARED)"
  install_packages python3-onnx python3-numpy
  mkdir -p "$CACHE/peer_models"
  /usr/bin/python3 "$SHARED/peers/gen_models.py" --out "$CACHE/peer_models" "$1" >&2
}

