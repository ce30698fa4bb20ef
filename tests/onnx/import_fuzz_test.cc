// ONNX models from anyone: importing, compiling, loading and running them under
// limits must not do harm. Half of the changes are made to the bytes, half to
// the messages (testing/mutate_model.h).
//
//   ./dev fuzz --seconds=3600 //tests/onnx:import_fuzz_test
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/compile.h"
#include "frontends/onnx/import.h"
#include "frontends/onnx/testing/sample_models.h"
#include "tests/onnx/testing/mutate_model.h"
#include "third_party/onnx/onnx.pb.h"
#include "vm/format/writer.h"
#include "vm/runtime/module.h"
#include "vm/runtime/testing/run_anything.h"

// Of libFuzzer, or of //bazel:fuzz_main.
extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace ember::tests {
namespace {

// Where external data may lie: weights.bin, and links out of the folder.
std::string MakeFolder() {
  namespace fs = std::filesystem;
  std::string folder = fs::temp_directory_path() / "ember_import_fuzz.XXXXXX";
  EMBER_CHECK(mkdtemp(folder.data()) != nullptr) << folder;
  std::ofstream(folder + "/weights.bin", std::ios::binary)
      << std::string(kWeightsBytes, '\1');
  std::error_code ignored;
  fs::create_symlink("/etc/passwd", folder + "/link.bin", ignored);
  fs::create_directory_symlink("/etc", folder + "/linked", ignored);
  return folder;
}

const std::string& Folder() {
  static const auto* const kFolder = [] {
    auto* folder = new std::string(MakeFolder());
    std::atexit([] { std::filesystem::remove_all(Folder()); });
    return folder;
  }();
  return *kFolder;
}

// The sample models as files, in a folder that joins the arguments: where the
// search starts, besides the corpus of ./dev fuzz.
void AddSamples(int* argc, char*** argv) {
  static std::string folder = Folder() + "/samples";
  std::filesystem::create_directory(folder);
  for (const std::string_view name : onnx::SampleModelNames()) {
    std::ofstream(folder + "/" + std::string(name), std::ios::binary)
        << onnx::SampleModel(name).proto().SerializeAsString();
  }
  static std::vector<char*> arguments(*argv, *argv + *argc);
  arguments.push_back(folder.data());
  arguments.push_back(nullptr);
  *argv = arguments.data();
  ++*argc;
}

// A model's error is one line.
void CheckMessage(const Status& status) {
  EMBER_CHECK(status.message().find('\n') == std::string_view::npos)
      << status.ToString();
  EMBER_CHECK(!status.message().empty());
}

size_t Serialize(const onnx::ModelProto& model, uint8_t* data,
                 size_t max_size) {
  const size_t size = model.ByteSizeLong();
  if (size > max_size ||
      !model.SerializeToArray(data, static_cast<int>(max_size)))
    return 0;
  return size;
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
      onnx::ImportModelBytes({data, size}, tests::Folder(), {});
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
  using namespace ember;
  std::mt19937_64 random(seed);
  onnx::ModelProto model;
  if (random() % 4 == 0 || !model.ParseFromArray(data, static_cast<int>(size)))
    return LLVMFuzzerMutate(data, size, max_size);
  tests::MutateModel(model, random);
  const size_t changed = tests::Serialize(model, data, max_size);
  return changed != 0 ? changed : LLVMFuzzerMutate(data, size, max_size);
}

extern "C" size_t LLVMFuzzerCustomCrossOver(const uint8_t* data1, size_t size1,
                                            const uint8_t* data2, size_t size2,
                                            uint8_t* out, size_t max_out_size,
                                            unsigned int seed) {
  using namespace ember;
  std::mt19937_64 random(seed);
  onnx::ModelProto model, other;
  if (!model.ParseFromArray(data1, static_cast<int>(size1)) ||
      !other.ParseFromArray(data2, static_cast<int>(size2)))
    return 0;
  tests::CrossModels(model, other, random);
  return tests::Serialize(model, out, max_out_size);
}
