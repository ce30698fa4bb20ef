// Keras files from anyone: importing, compiling, loading and running them under
// limits must not do harm. Half of the changes are made to bytes, half to
// words, which is where HDF5 keeps addresses and sizes.
//
//   ./dev fuzz --seconds=3600 //tests/keras:import_fuzz_test
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "compiler/compile.h"
#include "frontends/keras/import.h"
#include "frontends/keras/testing/sample_models.h"
#include "vm/format/writer.h"
#include "vm/runtime/module.h"
#include "vm/runtime/testing/run_anything.h"

// Of libFuzzer, or of //bazel:fuzz_main.
extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace ember::tests {
namespace {

const std::string& Folder() {
  static const auto* const kFolder = [] {
    std::string folder =
        std::filesystem::temp_directory_path() / "ember_keras_fuzz.XXXXXX";
    EMBER_CHECK(mkdtemp(folder.data()) != nullptr) << folder;
    std::atexit([] { std::filesystem::remove_all(Folder()); });
    return new std::string(folder);
  }();
  return *kFolder;
}

// The sample models as files, in a folder that joins the arguments.
void AddSamples(int* argc, char*** argv) {
  static std::string folder = Folder() + "/samples";
  std::filesystem::create_directory(folder);
  for (const std::string_view name : keras::SampleModelNames()) {
    std::ofstream(folder + "/" + std::string(name), std::ios::binary)
        << keras::SampleModel(name);
  }
  static std::vector<char*> arguments(*argv, *argv + *argc);
  arguments.push_back(folder.data());
  arguments.push_back(nullptr);
  *argv = arguments.data();
  ++*argc;
}

// An error is one line.
void CheckMessage(const Status& status) {
  EMBER_CHECK(status.message().find('\n') == std::string_view::npos)
      << status.ToString();
  EMBER_CHECK(!status.message().empty());
}

}  // namespace
}  // namespace ember::tests

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  // Not where one input is run again.
  for (int i = 1; i < *argc; ++i) {
    if (std::filesystem::is_regular_file((*argv)[i])) return 0;
  }
  ember::tests::AddSamples(argc, argv);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace ember;
  StatusOr<graph::Graph> graph =
      keras::ImportModelBytes({data, size}, nullptr, {});
  if (!graph.ok()) {
    tests::CheckMessage(graph.status());
    return 0;
  }
  auto definition = compiler::Compile(*std::move(graph), {});
  if (!definition.ok()) {
    tests::CheckMessage(definition.status());
    return 0;
  }
  // What the compiler emits must pass the verifier, as a file too.
  auto file = vm::SerializeModule(*definition);
  EMBER_CHECK(file.ok()) << file.status().ToString();
  auto module = vm::Module::Load(*file, nullptr);
  EMBER_CHECK(module.ok()) << module.status().ToString();
  const Status ran = vm::RunAnything(*module, size);
  if (!ran.ok()) tests::CheckMessage(ran);
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size,
                                          size_t max_size, unsigned int seed) {
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
