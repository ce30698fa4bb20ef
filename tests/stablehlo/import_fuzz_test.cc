// StableHLO programs from anyone: importing, compiling, loading and running
// them under limits must not do harm.
//
//   ./dev fuzz --seconds=3600 //tests/stablehlo:import_fuzz_test
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "frontends/stablehlo/import.h"
#include "frontends/stablehlo/testing/sample_models.h"
#include "tests/import_fuzzing/import_fuzzing.h"
#include "tests/stablehlo/operator_cases.h"

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  using namespace ember;
  std::vector<tests::Sample> samples;
  for (const std::string_view name : stablehlo::SampleModelNames())
    samples.emplace_back(name, stablehlo::SampleModel(name));
  for (const auto& cases : {tests::ElementwiseCases(), tests::MovementCases(),
                            tests::RegionCases(), tests::AlgebraCases()}) {
    for (const tests::OperatorCase& row : cases)
      samples.emplace_back("case" + std::to_string(samples.size()),
                           tests::ProgramOf(row));
  }
  tests::StartFromSamples(samples, argc, argv);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace ember;
  tests::RunImported(stablehlo::ImportModelContents(
                         {reinterpret_cast<const char*>(data), size}, {}),
                     size);
  return 0;
}
