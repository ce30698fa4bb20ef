// Fuzzes models of Hugging Face from strangers: importing, compiling, loading
// and running them under limits must not do harm. An input is the text of
// config.json, a byte 0, and a safetensors file.
//
//   ./dev fuzz --seconds=3600 //tests/safetensors:import_fuzz_test
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/byte_cursor.h"
#include "frontends/safetensors/import.h"
#include "frontends/safetensors/testing/hub_model.h"
#include "tests/import_fuzzing/import_fuzzing.h"

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  using namespace ember;
  std::vector<tests::Sample> samples;
  for (const std::string_view name : safetensors::HubModelNames()) {
    const safetensors::HubModel model = safetensors::MakeHubModel(name);
    std::string file(name);
    for (char& c : file)
      if (c == '/') c = '_';
    samples.emplace_back(file,
                         model.config + std::string(1, '\0') + model.weights);
  }
  tests::StartFromSamples(samples, argc, argv);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace ember;
  const auto [config, weights] = tests::SplitAtZero(data, size);
  tests::RunImported(
      safetensors::ImportModelBytes(config, AsBytes(weights), nullptr, {}),
      size);
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size,
                                          size_t max_size, unsigned int seed) {
  return ember::tests::MutateBytesOrWords(data, size, max_size, seed);
}
