// Fuzzes Caffe2 nets from strangers: importing, compiling, loading and running
// them under limits must not do harm. An input is a predict net, the word
// "@init-net@", and an init net. Half of the changes are made to bytes, half to
// words.
//
//   ./dev fuzz --seconds=3600 //tests/caffe2:import_fuzz_test
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "frontends/caffe2/import.h"
#include "frontends/caffe2/testing/sample_models.h"
#include "tests/import_fuzzing/import_fuzzing.h"

namespace {

// The word between the two nets of an input. Binary nets may have bytes 0
// anywhere, so a word separates them.
constexpr std::string_view kBetween = "@init-net@";

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  using namespace ember;
  std::vector<tests::Sample> samples;
  for (const caffe2::SampleModel& model : caffe2::SampleModels()) {
    samples.emplace_back(
        model.name, model.predict_net + std::string(kBetween) + model.init_net);
  }
  tests::StartFromSamples(samples, argc, argv);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace ember;
  const std::string_view both(reinterpret_cast<const char*>(data), size);
  const size_t at = both.find(kBetween);
  const bool is_pair = at != std::string_view::npos;
  tests::RunImported(caffe2::ImportModelBytes(
                         both.substr(0, at),
                         is_pair ? both.substr(at + kBetween.size()) : "", {}),
                     size);
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size,
                                          size_t max_size, unsigned int seed) {
  return ember::tests::MutateBytesOrWords(data, size, max_size, seed);
}
