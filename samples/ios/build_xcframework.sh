#!/bin/bash
# build_xcframework.sh SOURCES: makes Ember.xcframework, on a Mac with Xcode and CMake.
#
# SOURCES: the folder ember-runtime, unpacked from what ./dev package --sources makes on Debian.
set -euo pipefail
(($# == 1)) || { sed -n '2,4s/^# *//p' "$0" >&2 && exit 2; }
sources="$(cd "$1" && pwd)"
cd "$(dirname "$0")"
build="$PWD/build"
headers="$build/include"
mkdir -p "$headers"
cp "$sources/include/ember.h" "$headers"
cat >"$headers/module.modulemap" <<'END'
module CEmber {
  header "ember.h"
  export *
}
END
arguments=()
# SDK, what CMake calls the system, oldest version.
while read -r sdk system oldest; do
  cmake -S "$sources" -B "$build/$sdk" -DCMAKE_BUILD_TYPE=Release -DCMAKE_SYSTEM_NAME="$system" \
    -DCMAKE_OSX_SYSROOT="$sdk" -DCMAKE_OSX_ARCHITECTURES=arm64 -DCMAKE_OSX_DEPLOYMENT_TARGET="$oldest"
  cmake --build "$build/$sdk" --parallel
  arguments+=(-library "$build/$sdk/libember_static.a" -headers "$headers")
done <<'END'
iphoneos iOS 14.0
iphonesimulator iOS 14.0
macosx Darwin 11.0
END
rm -rf Ember.xcframework
xcodebuild -create-xcframework "${arguments[@]}" -output Ember.xcframework
