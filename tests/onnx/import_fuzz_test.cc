// Fuzzes ONNX models from strangers: importing, compiling, loading and running
// them under limits must not do harm. Half of the changes are made to the
// bytes, half to the messages (testing/mutate_model.h).
//
//   ./dev fuzz --seconds=3600 //tests/onnx:import_fuzz_test
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "frontends/onnx/import/import.h"
#include "frontends/onnx/testing/sample_models.h"
#include "tests/import_fuzzing/import_fuzzing.h"
#include "tests/onnx/testing/mutate_model.h"
#include "third_party/onnx/onnx.pb.h"

// The fuzzer's own mutator of bytes, which libFuzzer or //bazel:fuzz_main
// defines.
extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace ember::tests {
namespace {

// Returns the folder to which models' external data is relative. It has the
// file weights.bin, and links that lead out of the folder.
const std::string& Folder() {
  static const bool kFilled = [] {
    namespace fs = std::filesystem;
    const std::string& folder = FuzzFolder();
    std::ofstream(folder + "/weights.bin", std::ios::binary)
        << std::string(kWeightsBytes, '\1');
    std::error_code ignored;
    fs::create_symlink("/etc/passwd", folder + "/link.bin", ignored);
    fs::create_directory_symlink("/etc", folder + "/linked", ignored);
    return true;
  }();
  static_cast<void>(kFilled);
  return FuzzFolder();
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
  using namespace ember;
  std::vector<tests::Sample> samples;
  for (const std::string_view name : onnx::SampleModelNames()) {
    samples.emplace_back(name,
                         onnx::SampleModel(name).proto().SerializeAsString());
  }
  tests::StartFromSamples(samples, argc, argv);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace ember;
  tests::RunImported(onnx::ImportModelBytes({data, size}, tests::Folder(), {}),
                     size);
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
