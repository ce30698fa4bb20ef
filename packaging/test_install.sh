#!/bin/bash
# test_install.sh DIR: installs the Debian packages in DIR and tests them as a user who does not
# know this repository's build: with CMake, with pkg-config, with the static archive, from C++, with
# the tools, from the tar.gz, and from Python.
#
# It installs packages, so it runs in a chroot: ./dev package --test.
set -euo pipefail
packages="$(realpath "$1")"
# Installs only the packages for this machine's architecture: DIR may hold packages for others, too.
arch="$(dpkg --print-architecture)"
repo="$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd)"
module="$repo/vm/api/testdata/digits.vmfb"
picture="$repo/samples/raspberry_pi/testdata/seven.pgm"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
cd "$work"

step() { printf '\n--- %s\n' "$*"; }
# Runs a program and checks that it prints the results that the C sample prints.
expect_digits() {
  "$@" "$module" | tee output.txt
  grep -qE '^result probabilities:( [0-9.e-]+){10}$' output.txt
}

export DEBIAN_FRONTEND=noninteractive
step "libember-dev: what it brings along"
apt-get -qq update
apt-get -qq install -y --no-install-recommends gcc libc6-dev cmake make pkg-config "$packages"/libember_*_"$arch".deb \
  "$packages"/libember-dev_*_"$arch".deb >apt.log 2>&1 || { tail -n 30 apt.log && exit 1; }
dpkg -s libember libember-dev | grep -E '^(Package|Version|Depends|Recommends|Installed-Size):'

step "licences: Ember's own and those of the libraries inside"
for package in libember libember-dev; do
  grep -q 'Apache License' "/usr/share/doc/$package/copyright"
  grep -q "code of Debian's package libflatbuffers-dev" "/usr/share/doc/$package/copyright"
done

step "a CMake project of five lines, in C, with no C++ compiler"
if command -v g++ c++ >/dev/null; then echo "FAILED: this test is about a machine without C++" && exit 1; fi
mkdir five_lines
cp "$repo/packaging/cmake_app/CMakeLists.txt" five_lines
cp "$repo/samples/embed_c/main.c" five_lines
cmake -S five_lines -B five_lines/build -DAPP_SOURCE=main.c >cmake.log || { cat cmake.log && exit 1; }
cmake --build five_lines/build >cmake.log || { cat cmake.log && exit 1; }
expect_digits five_lines/build/app
readelf -d five_lines/build/app | grep NEEDED

step "pkg-config"
# shellcheck disable=SC2046
cc "$repo/samples/embed_c/main.c" -o with_pkg_config $(pkg-config --cflags --libs ember)
expect_digits ./with_pkg_config

step "the Raspberry Pi sample, by CMake"
cmake -S "$repo/samples/raspberry_pi" -B classify -DCMAKE_BUILD_TYPE=Release >cmake.log || { cat cmake.log && exit 1; }
cmake --build classify >cmake.log || { cat cmake.log && exit 1; }
classify/classify "$module" "$picture" --top=1 | tee output.txt
grep -qE '^ +[0-9.]+  7  $' output.txt

step "the archive, and the wrapper for C++"
apt-get -qq install -y --no-install-recommends g++ >apt.log 2>&1 || { tail -n 30 apt.log && exit 1; }
sed 's/ember::ember/ember::ember_static/' five_lines/CMakeLists.txt >five_lines/static.txt
mkdir static
cp five_lines/main.c static
cp five_lines/static.txt static/CMakeLists.txt
cmake -S static -B static/build -DAPP_SOURCE=main.c >cmake.log || { cat cmake.log && exit 1; }
cmake --build static/build >cmake.log || { cat cmake.log && exit 1; }
expect_digits static/build/app
if readelf -d static/build/app | grep libember; then echo "FAILED: the archive was not used" && exit 1; fi
cat >wrapper.cc <<'END'
#include <ember.hpp>
#include <cstdio>
int main(int, char** argv) {
  ember::Module module = ember::Module::Load(argv[1]).value();
  std::printf("%d input, %d result\n", module.input_count(), module.result_count());
}
END
# shellcheck disable=SC2046
g++ -std=c++17 wrapper.cc -o wrapper $(pkg-config --cflags --libs ember)
./wrapper "$module" | tee output.txt
grep -qx '1 input, 1 result' output.txt

step "the tar.gz, from a folder of its own"
mkdir elsewhere
tar -xzf "$packages"/ember-*-linux-"$arch".tar.gz -C elsewhere --strip-components=1
cmake -S five_lines -B moved -DAPP_SOURCE=main.c -DCMAKE_PREFIX_PATH="$PWD/elsewhere" >cmake.log || { cat cmake.log && exit 1; }
cmake --build moved >cmake.log || { cat cmake.log && exit 1; }
readelf -d moved/app | grep -q "RUNPATH.*$PWD/elsewhere/lib"
expect_digits moved/app

step "tier 2 without libember-jit: a line that says what is missing"
cat >tier.c <<'END'
#include <ember.h>
#include <stdio.h>
#include <string.h>
int main(int argc, char** argv) {
  const EmberApi* ember = ember_get_api(4);
  EmberSessionOptions options;
  EmberModule* module;
  EmberSession* session;
  memset(&options, 0, sizeof(options));
  options.struct_size = sizeof(options);
  options.tier = EMBER_TIER_OPTIMIZED;
  if (argc != 2 || ember->module_load_file(argv[1], &module) != EMBER_OK ||
      ember->session_create(module, &options, &session) != EMBER_OK) {
    puts(ember->error_message());
    return 1;
  }
  ember->session_release(session);
  ember->module_release(module);
  return 0;
}
END
# shellcheck disable=SC2046
cc tier.c -o tier $(pkg-config --cflags --libs ember)
if ./tier "$module" >output.txt; then echo "FAILED: tier 2 without a JIT" && exit 1; fi
cat output.txt
grep -q '^libember_jit.so: expected it in ' output.txt

step "ember-tools: compile, run"
apt-get -qq install -y --no-install-recommends "$packages"/libember-jit_*_"$arch".deb "$packages"/ember-tools_*_"$arch".deb \
  >apt.log 2>&1 || { tail -n 30 apt.log && exit 1; }
dpkg -s libember-jit ember-tools | grep -E '^(Package|Version|Depends|Installed-Size):'
for tool in $(dpkg -L ember-tools | grep '^/usr/bin/'); do "$tool" --help >/dev/null || { echo "FAILED: $tool --help" && exit 1; }; done
# ./dev package makes man pages and completion of the output of --help. Checks that one of each has
# a flag and loads.
zcat /usr/share/man/man1/vm-run.1.gz | grep -q '^\.B \\-\\-input='
bash -c 'source /usr/share/bash-completion/completions/vm-run && complete -p vm-run'
vm-run "$module" --tier=0
# Tier 2 needs the JIT's library, which vm-run in /usr/bin must find in the installed folders.
vm-run "$module" --tier=2 | tee output.txt
# --jit=worker compiles in another process, the program of which must be installed, too.
vm-run "$module" --tier=2 --jit=worker --explain | tee worker.txt
grep -qE '^5 kernels of .*; 0 declined\.$' worker.txt
if [[ -f "$packages/digits.onnx" ]]; then
  vm-compile "$packages/digits.onnx" -o compiled.vmfb
  vm-run compiled.vmfb
fi

step "the library finds the JIT and the compile worker, too"
./tier "$module"
sed 's/= EMBER_TIER_OPTIMIZED;/&\n  options.compile_in = EMBER_COMPILE_IN_WORKER;/; s/ember_get_api(4)/ember_get_api(7)/' tier.c >worker.c
grep -q EMBER_COMPILE_IN_WORKER worker.c
# shellcheck disable=SC2046
cc worker.c -o worker $(pkg-config --cflags --libs ember)
./worker "$module"
mv /usr/lib/ember/ember-compile-worker hidden
if ./worker "$module" >output.txt; then echo "FAILED: a worker that is not there" && exit 1; fi
cat output.txt
grep -q 'ember-compile-worker' output.txt
mv hidden /usr/lib/ember/ember-compile-worker

step "libember-compiler: a model is compiled in a C program"
apt-get -qq install -y --no-install-recommends "$packages"/libember-compiler_*_"$arch".deb >apt.log 2>&1 ||
  { tail -n 30 apt.log && exit 1; }
cat >compile.c <<'END'
#include <ember_compiler.h>
#include <stdio.h>
int main(int argc, char** argv) {
  const EmberCompilerApi* compiler = ember_get_compiler_api(EMBER_COMPILER_API_VERSION);
  EmberCompileOptions options = {sizeof(options)};
  EmberCompilation* compilation;
  options.path = argv[1];
  if (argc != 3 || compiler->compile(&options, &compilation) != EMBER_OK ||
      compiler->compilation_write(compilation, argv[2]) != EMBER_OK) {
    puts(compiler->error_message());
    return 1;
  }
  compiler->compilation_release(compilation);
  return 0;
}
END
# shellcheck disable=SC2046
cc compile.c -o compile $(pkg-config --cflags ember) -lember_compiler
if ./compile nowhere.onnx out.vmfb >output.txt; then echo "FAILED: a model that is not there" && exit 1; fi
cat output.txt
if [[ -f "$packages/digits.onnx" ]]; then
  ./compile "$packages/digits.onnx" in_c.vmfb
  vm-run in_c.vmfb
fi

step "libember-llm: a model talks in a C program"
apt-get -qq install -y --no-install-recommends "$packages"/libember-llm_*_"$arch".deb >apt.log 2>&1 ||
  { tail -n 30 apt.log && exit 1; }
cat >talk.c <<'END'
#include <ember_llm.h>
#include <stdio.h>
static int32_t Print(void* context, const char* text, size_t size) {
  *(size_t*)context += size;
  fwrite(text, 1, size, stdout);
  return 1;
}
int main(int argc, char** argv) {
  const EmberLlmApi* llm = ember_llm_get_api(EMBER_LLM_API_VERSION);
  size_t printed = 0;
  EmberLlm* model;
  EmberLlmChat* chat;
  if (argc != 2 || llm->load(argv[1], NULL, &model) != EMBER_OK ||
      llm->chat_create(model, NULL, &chat) != EMBER_OK ||
      llm->chat_add(chat, "user", "Hello") != EMBER_OK ||
      llm->chat_generate(chat, NULL, Print, &printed, NULL) != EMBER_OK) {
    puts(llm->error_message());
    return 1;
  }
  printf("\n%zu bytes\n", printed);
  llm->chat_release(chat);
  llm->release(model);
  return 0;
}
END
# shellcheck disable=SC2046
cc talk.c -o talk $(pkg-config --cflags ember) -lember_llm
if ./talk nowhere.gguf >output.txt; then echo "FAILED: a model that is not there" && exit 1; fi
cat output.txt
if [[ -f "$packages/text.gguf" ]]; then
  ./talk "$packages/text.gguf" | tail -n 1 | grep -E '^[1-9][0-9]* bytes$'
  vm-generate "$packages/text.gguf" -p Hello -n 8
fi

[[ ! -f "$packages/digits.onnx" ]] || "$repo/packaging/test_python.sh" "$packages" deb

step "removed again"
installed=(libember libember-dev libember-jit libember-compiler libember-llm ember-tools)
if dpkg -s python3-ember >/dev/null 2>&1; then installed+=(python3-ember); fi
apt-get -qq purge -y "${installed[@]}" >apt.log 2>&1 || { tail -n 30 apt.log && exit 1; }
if dpkg -L libember 2>/dev/null || [[ -e /usr/lib/ember || -e /usr/include/ember ]]; then
  echo "FAILED: something was left behind" && exit 1
fi
if [[ -e /usr/lib/python3/dist-packages/ember ]]; then
  echo "FAILED: files of python3-ember were left behind" && exit 1
fi

# Removes the LLVM that came with libember-jit, because the test of the wheel checks what a run
# without LLVM reports.
apt-get -qq autoremove --purge -y >apt.log 2>&1 || { tail -n 30 apt.log && exit 1; }
[[ ! -f "$packages/digits.onnx" ]] || "$repo/packaging/test_python.sh" "$packages" wheel
echo "packages: all steps passed"
