#!/bin/bash
# Runs commands of this machine with the Vulkan of a newer Debian: Mesa's lavapipe, the loader, the
# validation layer and spirv-val. See --help.
set -euo pipefail

usage() {
  cat <<'EOU'
Usage: tests/newer_lavapipe.sh setup
       tests/newer_lavapipe.sh run COMMAND [ARGS]

setup  Makes the folder of a Debian 13 with Mesa of its backports, once (root; debootstrap; network),
       and prints what is in it. Free when repeated.
run    Runs the command here, in this folder and with these files, but with /usr of that Debian; shared
       libraries that it lacks are this machine's. VK_ICD_FILENAMES names its lavapipe alone,
       EMBER_SPIRV_VAL its spirv-val; EMBER_VULKAN_VALIDATION=1 unless it is set already. For
       `bazel test --run_under`.

EMBER_LAVAPIPE_ROOT (default ~/.cache/ember/lavapipe) is the folder, EMBER_MIRROR (default
http://deb.debian.org/debian) where packages come from.
EOU
}

readonly CODENAME=trixie
: "${HOME:=/root}"
readonly ROOT="${EMBER_LAVAPIPE_ROOT:-${XDG_CACHE_HOME:-$HOME/.cache}/ember/lavapipe}"
readonly MIRROR="${EMBER_MIRROR:-http://deb.debian.org/debian}"
LIBRARIES="/usr/lib/$(uname -m)-linux-gnu"
readonly LIBRARIES
# Folders below the chroot's root: OF_HOST shows this machine's libraries, and MISSING has links to
# those of them that the chroot lacks.
readonly OF_HOST=/usr/lib/of-host MISSING=/usr/lib/missing

die() {
  printf 'newer lavapipe: %s\n' "$*" >&2
  exit 1
}

# Runs a command in a chroot, with "$ROOT" as its root. The mounts end with the command.
inside() {
  unshare --mount --propagation private --pid --fork --kill-child bash -c '
    set -e
    mount -t proc proc "$1/proc"
    exec chroot "$1" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 \
      DEBIAN_FRONTEND=noninteractive ${http_proxy:+http_proxy="$http_proxy"} bash -c "$2"
  ' inside "$ROOT" "$1" </dev/null
}

make_root() {
  ((EUID == 0)) || die "making $ROOT needs root: run ./dev lavapipe once as root"
  command -v debootstrap >/dev/null || die "needs debootstrap: apt-get install debootstrap"
  # In some containers even root may not mount. That is checked before packages are downloaded.
  unshare --mount --propagation private true 2>/dev/null || die "this root may not mount (a container?)"
  local log="$ROOT.log"
  rm -rf --one-file-system "$ROOT"
  mkdir -p "$ROOT"
  echo "newer lavapipe: making $ROOT (a minute or two; log: $log)" >&2
  debootstrap --variant=minbase "$CODENAME" "$ROOT" "$MIRROR" >"$log" 2>&1 ||
    die "debootstrap of $MIRROR failed (no network?), see $log"
  echo "deb $MIRROR $CODENAME-backports main" >"$ROOT/etc/apt/sources.list.d/backports.list"
  cp -L /etc/resolv.conf /etc/hosts "$ROOT/etc/"
  # Mesa is installed from the backports, and all other packages from the release.
  inside "set -e
    apt-get -qq update
    apt-get -qq install -y --no-install-recommends -t $CODENAME-backports mesa-vulkan-drivers
    apt-get -qq install -y --no-install-recommends vulkan-validationlayers libvulkan1 spirv-tools
    apt-get clean" >>"$log" 2>&1 || die "installing Mesa failed, see $log"
  mkdir -p "$ROOT$OF_HOST"
  touch "$ROOT/.complete"
}

setup() {
  [[ -e "$ROOT/.complete" ]] || make_root
  # The links are made anew each time, because this machine's packages may have changed.
  rm -rf "${ROOT:?}$MISSING"
  mkdir -p "$ROOT$MISSING"
  comm -23 <(find "$LIBRARIES" -maxdepth 1 -name '*.so.*' -printf '%f\n' | sort) \
    <(find "$ROOT$LIBRARIES" -maxdepth 1 -name '*.so.*' -printf '%f\n' | sort) |
    sed "s,^,$OF_HOST/," | xargs -r ln -s -t "$ROOT$MISSING"
  dpkg-query --admindir="$ROOT/var/lib/dpkg" -W -f 'newer lavapipe: ${Package} ${Version}\n' \
    mesa-vulkan-drivers vulkan-validationlayers libvulkan1 spirv-tools >&2
}

run() {
  [[ -e "$ROOT/.complete" && -d "$ROOT$MISSING" ]] || die "no $ROOT: run ./dev lavapipe first"
  local driver as_root=()
  driver="$(cd "$ROOT" && ls usr/share/vulkan/icd.d/lvp_icd*.json 2>/dev/null)" ||
    die "no lavapipe in $ROOT: remove that folder and run ./dev lavapipe"
  ((EUID == 0)) || as_root=(--map-root-user)
  export VK_ICD_FILENAMES="/$driver" EMBER_SPIRV_VAL=/usr/bin/spirv-val
  export EMBER_VULKAN_VALIDATION="${EMBER_VULKAN_VALIDATION-1}"
  export LD_LIBRARY_PATH="$MISSING${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
  # The mounts are in a namespace that only this command sees. Libraries are found by
  # LD_LIBRARY_PATH, because the cache of ld.so would name files that do not exist.
  unshare "${as_root[@]}" --mount --propagation private true 2>/dev/null ||
    die "needs root, or user namespaces (sysctl kernel.unprivileged_userns_clone=1)"
  exec unshare "${as_root[@]}" --mount --propagation private bash -c '
    set -e
    root="$1" libraries="$2" of_host="$3"
    shift 3
    mount --bind "$libraries" "$root$of_host"
    mount --bind "$root/etc/ld.so.cache" /etc/ld.so.cache
    mount --rbind "$root/usr" /usr
    exec "$@"
  ' run "$ROOT" "$LIBRARIES" "$OF_HOST" "$@"
}

case "${1:-}" in
  setup) setup ;;
  run)
    shift
    (($# > 0)) || die "run what? see --help"
    run "$@"
    ;;
  -h | --help) usage ;;
  *)
    usage >&2
    exit 1
    ;;
esac
