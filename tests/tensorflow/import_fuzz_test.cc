// Fuzzes TensorFlow graphs from strangers, binary and text: importing,
// compiling, loading and running them under limits must not do harm. Half of
// the changes are made to bytes, half to aligned words, in which constants have
// their numbers.
//
//   ./dev fuzz --seconds=3600 //tests/tensorflow:import_fuzz_test
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "frontends/tensorflow/import.h"
#include "frontends/tensorflow/testing/sample_models.h"
#include "tests/import_fuzzing/import_fuzzing.h"

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  using namespace ember;
  std::vector<tests::Sample> samples;
  for (const std::string& name : tensorflow::SampleModelNames())
    samples.emplace_back(name, tensorflow::SampleModel(name));
  tests::StartFromSamples(samples, argc, argv);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace ember;
  tests::RunImported(tensorflow::ImportModelBytes({data, size}, {}), size);
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size,
                                          size_t max_size, unsigned int seed) {
  return ember::tests::MutateBytesOrWords(data, size, max_size, seed);
}
