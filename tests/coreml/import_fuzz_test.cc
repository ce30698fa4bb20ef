// Fuzzes Core ML files from strangers: importing, compiling, loading and
// running them under limits must not do harm.
//
//   ./dev fuzz --seconds=3600 //tests/coreml:import_fuzz_test
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "frontends/coreml/import.h"
#include "frontends/coreml/testing/sample_models.h"
#include "tests/import_fuzzing/import_fuzzing.h"

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  using namespace ember;
  std::vector<tests::Sample> samples;
  for (const auto& [name, bytes] : coreml::SampleModels())
    samples.emplace_back(name, bytes);
  tests::StartFromSamples(samples, argc, argv);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace ember;
  tests::RunImported(coreml::ImportModelBytes({data, size}, nullptr, {}), size);
  return 0;
}
