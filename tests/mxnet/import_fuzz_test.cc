// Fuzzes MXNet files from strangers: importing, compiling, loading and running
// them under limits must not do harm. An input is a symbol, a byte 0, and
// parameters. Half of the changes are made to bytes, half to words.
//
//   ./dev fuzz --seconds=3600 //tests/mxnet:import_fuzz_test
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "frontends/mxnet/import.h"
#include "frontends/mxnet/testing/sample_models.h"
#include "tests/import_fuzzing/import_fuzzing.h"

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  using namespace ember;
  std::vector<tests::Sample> samples;
  for (const std::string_view name : mxnet::SampleModelNames())
    samples.emplace_back(name, mxnet::SampleModel(name));
  tests::StartFromSamples(samples, argc, argv);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace ember;
  const auto [symbol, params] = tests::SplitAtZero(data, size);
  tests::RunImported(
      mxnet::ImportModelBytes(
          symbol,
          {reinterpret_cast<const uint8_t*>(params.data()), params.size()},
          nullptr, {}),
      size);
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size,
                                          size_t max_size, unsigned int seed) {
  return ember::tests::MutateBytesOrWords(data, size, max_size, seed);
}
