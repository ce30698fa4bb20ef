// Fuzzes TorchScript archives from strangers: importing, compiling, loading and
// running them under limits must not do harm. Half of the changes are made to
// bytes, half to words.
//
//   ./dev fuzz --seconds=3600 //tests/torchscript:import_fuzz_test
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "frontends/torchscript/import.h"
#include "frontends/torchscript/pickle.h"
#include "frontends/torchscript/syntax.h"
#include "frontends/torchscript/testing/sample_models.h"
#include "tests/import_fuzzing/import_fuzzing.h"

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  using namespace ember;
  std::vector<tests::Sample> samples;
  for (const std::string_view name : torchscript::SampleModelNames())
    samples.emplace_back(name, torchscript::SampleModel(name));
  tests::StartFromSamples(samples, argc, argv);
  return 0;
}

// Imports the input as an archive. Also parses the input directly as a pickle
// and as code, the parts of an archive, because changed bytes of an archive
// test the parsers of these parts little.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace ember;
  (void)torchscript::Pickle::Read({data, size});
  (void)torchscript::ParseSource({reinterpret_cast<const char*>(data), size});
  tests::RunImported(torchscript::ImportModelBytes({data, size}, nullptr, {}),
                     size);
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size,
                                          size_t max_size, unsigned int seed) {
  return ember::tests::MutateBytesOrWords(data, size, max_size, seed);
}
