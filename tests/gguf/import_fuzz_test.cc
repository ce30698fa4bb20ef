// Fuzzes GGUF files from strangers: importing, compiling, loading and running
// them under limits must not do harm. Half of the changes are made to words of
// 4 bytes.
//
//   ./dev fuzz --seconds=3600 //tests/gguf:import_fuzz_test
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "frontends/gguf/import.h"
#include "frontends/gguf/testing/sample_models.h"
#include "tests/import_fuzzing/import_fuzzing.h"

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  using namespace ember;
  std::vector<tests::Sample> samples;
  for (const std::string_view name : gguf::SampleModelNames()) {
    std::string file(name);
    for (char& c : file)
      if (c == '/') c = '_';
    samples.emplace_back(file, gguf::SampleModel(name));
  }
  tests::StartFromSamples(samples, argc, argv);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace ember;
  tests::RunImported(gguf::ImportModelBytes({data, size}, nullptr, {}), size);
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size,
                                          size_t max_size, unsigned int seed) {
  return ember::tests::MutateBytesOrWords(data, size, max_size, seed);
}
