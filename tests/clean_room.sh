#!/bin/bash
# Proves that a bare Debian is enough: makes an empty chroot, clones the committed state of this
# repository into it, and runs ./dev there. See --help.
set -euo pipefail

usage() {
  cat <<'EOF'
Usage: ./dev clean-room [--debian=12|13] [--cold] [--keep] [--with=DIR] [COMMAND...]

Runs each COMMAND (default: "./dev run" "./dev test") in a fresh chroot of Debian 12 or 13 that holds
a clone of HEAD, and prints the wall time of each. Needs root and debootstrap.

  --cold   Do not share downloaded packages with earlier runs.
  --keep   Leave the chroot behind, for a look inside.
  --with=DIR
           Copy what is in DIR to /root/with in the chroot (./dev package --test).

EMBER_ROOM (default /var/tmp/ember-chroot) holds the base system and the downloads;
EMBER_MIRROR (default http://deb.debian.org/debian) is where they come from.
EOF
}

# The codename of each version of Debian.
declare -rA CODENAMES=([12]=bookworm [13]=trixie)
readonly DIR="${EMBER_ROOM:-/var/tmp/ember-chroot}"
readonly MIRROR="${EMBER_MIRROR:-http://deb.debian.org/debian}"
readonly ROOM="$DIR/room.$$"
REPO="$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd)"

die() {
  printf 'clean-room: %s\n' "$*" >&2
  exit 1
}

# Runs a command in the chroot. Its mounts and processes are in namespaces of their own, so nothing
# remains, however the command ends.
enter() {
  unshare --mount --propagation private --pid --fork --kill-child \
    bash -c '
      set -e
      room="$1" debs="$2"
      shift 2
      mount -t proc proc "$room/proc"
      mount --rbind /dev "$room/dev"
      mount -t tmpfs tmpfs "$room/dev/shm" 2>/dev/null || true
      if [[ -n "$debs" ]]; then mount --bind "$debs" "$room/var/cache/apt/archives"; fi
      exec chroot "$room" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 \
        CI=true ${http_proxy:+http_proxy="$http_proxy"} bash -c "cd /root/ember && $*"
    ' enter "$ROOM" "$debs" "$@" </dev/null
}

main() {
  local debian=12 cold=false keep=false with="" commands=() command status=0 start
  while (($# > 0)); do
    case "$1" in
      --debian=*) debian="${1#*=}" ;;
      --cold) cold=true ;;
      --keep) keep=true ;;
      --with=*) with="${1#*=}" ;;
      -h | --help)
        usage
        return
        ;;
      *) commands+=("$1") ;;
    esac
    shift
  done
  ((${#commands[@]} > 0)) || commands=("./dev run" "./dev test")

  ((EUID == 0)) || die "needs root (chroot)"
  command -v debootstrap >/dev/null || die "needs debootstrap: apt-get install debootstrap"
  [[ -z "$(git -C "$REPO" status --porcelain)" ]] ||
    echo "clean-room: the working tree has changes; what is tested is the last commit" >&2

  local codename="${CODENAMES[$debian]:-}"
  [[ -n "$codename" ]] || die "--debian: expected ${!CODENAMES[*]}, found '$debian'"
  local base="$DIR/base-$codename" debs=""
  $cold || debs="$DIR/debs-$codename"
  mkdir -p "$DIR" "$DIR/debs-$codename/partial"
  if [[ ! -e "$base/.complete" ]]; then
    rm -rf "$base"
    debootstrap --variant=minbase "$codename" "$base" "$MIRROR" >"$DIR/debootstrap.log" 2>&1 ||
      die "debootstrap failed, see $DIR/debootstrap.log"
    touch "$base/.complete"
  fi

  $keep || trap 'rm -rf --one-file-system "$ROOM"' EXIT
  cp -a --reflink=auto "$base" "$ROOM"
  cp -L /etc/resolv.conf /etc/hosts "$ROOM/etc/"
  git clone --quiet --no-local "$REPO" "$ROOM/root/ember"
  [[ -z "$with" ]] || cp -r "$with" "$ROOM/root/with"

  local times=()
  for command in "${commands[@]}"; do
    echo "clean-room: $command"
    start=$SECONDS
    if enter "$command"; then
      times+=("$((SECONDS - start)) s  $command")
    else
      times+=("$((SECONDS - start)) s  $command  FAILED")
      status=1
    fi
  done
  printf 'clean-room: %s\n' "${times[@]}"
  $keep && echo "clean-room: kept $ROOM"
  return "$status"
}

main "$@"
