#!/bin/bash
# test_sources.sh DIR: builds the sources that ./dev package --sources wrote to DIR, like the
# Android sample's CMakeLists.txt, with clang, which the NDK and Xcode use too. It then runs the
# sample's Java test with that library, and the sample in C with the smallest runtime.
set -euo pipefail
packages="$(realpath "$1")"
repo="$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd)"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
tar -xzf "$packages"/ember-runtime-*.tar.gz -C "$work"
java="$(dirname "$(dirname "$(readlink -f "$(command -v javac)")")")"
# -O0 makes the build fast: the test only checks that all files exist and compile.
CC=clang-19 CXX=clang++-19 cmake -S "$repo/samples/android/app/src/main/cpp" -B "$work/build" \
  -DEMBER_SOURCES="$work/ember-runtime" -DCMAKE_BUILD_TYPE=None -DCMAKE_CXX_FLAGS=-O0 \
  -DCMAKE_C_FLAGS="-I$java/include -I$java/include/linux"
cmake --build "$work/build"
"$repo/samples/android/host_test/host_test.sh" "$work/build/libember_jni.so" "$repo/vm/api/testdata/digits.vmfb" \
  "$repo/samples/android/app/src/main/java/dev/ember/Model.java" "$repo/samples/android/host_test/ModelTest.java"

mkdir "$work/small"
cat >"$work/small/CMakeLists.txt" <<EOF
cmake_minimum_required(VERSION 3.16)
project(small C CXX)
add_subdirectory($work/ember-runtime ember EXCLUDE_FROM_ALL)
add_executable(small $repo/samples/embed_c/main.c)
target_link_libraries(small ember::ember_smallest)
target_link_options(small PRIVATE -Wl,--gc-sections)
EOF
CC=clang-19 CXX=clang++-19 cmake -S "$work/small" -B "$work/small/build" -DCMAKE_BUILD_TYPE=None -DCMAKE_CXX_FLAGS=-O0
cmake --build "$work/small/build"
"$repo/samples/embed_c/embed_c_test.sh" "$work/small/build/small" "$repo/vm/api/testdata/digits.vmfb"
