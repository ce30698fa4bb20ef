// Archives of torch.export from anyone: importing, compiling, loading and
// running them under limits must not do harm. Half of the changes are made to
// bytes, half to words; entries are stored as they are, so that changes reach
// the program's JSON.
//
//   ./dev fuzz --seconds=3600 //tests/torch_export:import_fuzz_test
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "frontends/torch_export/extents.h"
#include "frontends/torch_export/import.h"
#include "frontends/torch_export/testing/sample_models.h"
#include "tests/import_fuzzing/import_fuzzing.h"

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  using namespace ember;
  std::vector<tests::Sample> samples;
  for (const std::string_view name : torch_export::SampleModelNames()) {
    const torch_export::ProgramBuilder program =
        torch_export::SampleProgram(name);
    samples.emplace_back(name, program.Archive());
    samples.emplace_back(std::string(name) + "_old", program.OldArchive());
  }
  tests::StartFromSamples(samples, argc, argv);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace ember;
  (void)torch_export::ParseExtent({reinterpret_cast<const char*>(data), size});
  tests::RunImported(torch_export::ImportModelBytes({data, size}, nullptr, {}),
                     size);
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size,
                                          size_t max_size, unsigned int seed) {
  return ember::tests::MutateBytesOrWords(data, size, max_size, seed);
}
