#include "tests/import_fuzzing/import_fuzzing.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "base/check.h"
#include "compiler/compile.h"
#include "vm/format/writer.h"
#include "vm/runtime/module.h"
#include "vm/runtime/testing/run_anything.h"

// The fuzzer's own mutator of bytes, which libFuzzer or //bazel:fuzz_main
// defines.
extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace ember::tests {
namespace {

// Checks that an error is one line.
void CheckMessage(const Status& status) {
  EMBER_CHECK(status.message().find('\n') == std::string_view::npos)
      << status.ToString();
  EMBER_CHECK(!status.message().empty());
}

}  // namespace

const std::string& FuzzFolder() {
  static const auto* const kFolder = [] {
    std::string folder =
        std::filesystem::temp_directory_path() / "ember_fuzz.XXXXXX";
    EMBER_CHECK(mkdtemp(folder.data()) != nullptr) << folder;
    std::atexit([] { std::filesystem::remove_all(FuzzFolder()); });
    return new std::string(folder);
  }();
  return *kFolder;
}

void StartFromSamples(const std::vector<Sample>& samples, int* argc,
                      char*** argv) {
  for (int i = 1; i < *argc; ++i) {
    if (std::filesystem::is_regular_file((*argv)[i])) return;
  }
  static std::string folder = FuzzFolder() + "/samples";
  std::filesystem::create_directory(folder);
  for (const auto& [name, contents] : samples)
    std::ofstream(folder + "/" + name, std::ios::binary) << contents;
  static std::vector<char*> arguments(*argv, *argv + *argc);
  arguments.push_back(folder.data());
  arguments.push_back(nullptr);
  *argv = arguments.data();
  ++*argc;
}

void RunImported(StatusOr<graph::Graph> graph, uint64_t seed) {
  if (!graph.ok()) return CheckMessage(graph.status());
  auto definition = compiler::Compile(*std::move(graph), {});
  if (!definition.ok()) return CheckMessage(definition.status());
  // The compiled module is written as a file and loaded again. The verifier
  // must accept it, because the compiler made it.
  auto file = vm::SerializeModule(*definition);
  EMBER_CHECK(file.ok()) << file.status().ToString();
  auto module = vm::Module::Load(*file, nullptr);
  EMBER_CHECK(module.ok()) << module.status().ToString();
  const Status ran = vm::RunAnything(*module, seed);
  if (!ran.ok()) CheckMessage(ran);
}

std::pair<std::string_view, std::string_view> SplitAtZero(const uint8_t* data,
                                                          size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const size_t zero = std::min(input.find('\0'), input.size());
  return {input.substr(0, zero),
          input.substr(std::min(zero + 1, input.size()))};
}

size_t MutateBytesOrWords(uint8_t* data, size_t size, size_t max_size,
                          unsigned int seed) {
  std::mt19937_64 random(seed);
  if (size < 8 || random() % 2 == 0)
    return LLVMFuzzerMutate(data, size, max_size);
  const size_t at = random() % (size / 4) * 4;
  static constexpr uint32_t kWords[] = {0,          1,          2,
                                        0x7fffffff, 0x80000000, 0xffffffff};
  uint32_t word;
  std::memcpy(&word, data + at, sizeof(word));
  const uint64_t kind = random() % 4;
  if (kind == 0) {
    word = kWords[random() % std::size(kWords)];
  } else if (kind == 1) {
    word += static_cast<uint32_t>(random() % 17) - 8;
  } else if (kind == 2) {
    std::memcpy(&word, data + random() % (size / 4) * 4, sizeof(word));
  } else {
    word ^= 1u << random() % 32;
  }
  std::memcpy(data + at, &word, sizeof(word));
  return size;
}

}  // namespace ember::tests
