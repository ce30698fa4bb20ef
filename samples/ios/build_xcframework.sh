#!/bin/bash
# build_xcframework.sh SOURCES [KERNELS]: makes Ember.xcframework, on a Mac with Xcode and CMake.
#
# SOURCES: the folder ember-runtime, unpacked from what ./dev package --sources makes on Debian.
# KERNELS: a folder with iphoneos.o, iphonesimulator.o and macosx.o, kernels of the app's model by vm-prejit (README.md).
set -euo pipefail
(($# == 1 || $# == 2)) || { sed -n '2,5s/^# *//p' "$0" >&2 && exit 2; }
sources="$(cd "$1" && pwd)"
kernels=""
[[ -z "${2:-}" ]] || kernels="$(cd "$2" && pwd)"
cd "$(dirname "$0")"
build="$PWD/build"
headers="$build/include"
mkdir -p "$headers"
cp "$sources/include/ember.h" "$headers"
address=0
[[ -z "$kernels" ]] || address="&ember_kernels_app"
# Swift cannot use a symbol of an opaque type, but it can call a C function that returns the
# symbol's address.
{
  echo '#include "ember.h"'
  [[ -z "$kernels" ]] || echo 'extern const EmberKernels ember_kernels_app;'
  echo "static inline const EmberKernels* ember_linked_kernels(void) { return $address; }"
} >"$headers/linked_kernels.h"
cat >"$headers/module.modulemap" <<'END'
module CEmber {
  header "ember.h"
  header "linked_kernels.h"
  export *
}
END
arguments=()
# Each line has an SDK, CMake's name of its system, and the oldest version of the system.
while read -r sdk system oldest; do
  cmake -S "$sources" -B "$build/$sdk" -DCMAKE_BUILD_TYPE=Release -DCMAKE_SYSTEM_NAME="$system" \
    -DCMAKE_OSX_SYSROOT="$sdk" -DCMAKE_OSX_ARCHITECTURES=arm64 -DCMAKE_OSX_DEPLOYMENT_TARGET="$oldest"
  cmake --build "$build/$sdk" --parallel
  library="$build/$sdk/libember_static.a"
  if [[ -n "$kernels" ]]; then
    libtool -static -o "$build/$sdk/libember_with_kernels.a" "$library" "$kernels/$sdk.o"
    library="$build/$sdk/libember_with_kernels.a"
  fi
  arguments+=(-library "$library" -headers "$headers")
done <<'END'
iphoneos iOS 14.0
iphonesimulator iOS 14.0
macosx Darwin 11.0
END
rm -rf Ember.xcframework
xcodebuild -create-xcframework "${arguments[@]}" -output Ember.xcframework
