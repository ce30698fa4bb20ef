// Fuzzes StableHLO programs from strangers: importing, compiling, loading and
// running them under limits must not do harm.
//
//   ./dev fuzz --seconds=3600 //tests/stablehlo:import_fuzz_test
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frontends/stablehlo/import.h"
#include "frontends/stablehlo/testing/sample_models.h"
#include "tests/import_fuzzing/import_fuzzing.h"
#include "tests/stablehlo/operator_cases.h"

// Mutates bytes. The function is defined by libFuzzer or by //bazel:fuzz_main.
extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

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

// A custom mutator: half of the changes replace one word or number of the text
// by another, as few texts with changed bytes are still programs.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size,
                                          size_t max_size, unsigned int seed) {
  std::mt19937_64 random(seed);
  if (size < 16 || random() % 2 == 0)
    return LLVMFuzzerMutate(data, size, max_size);
  const auto in_word = [&](size_t at) {
    return std::isalnum(data[at]) != 0 || data[at] == '_' || data[at] == '.';
  };
  const auto word = [&] {
    size_t begin = random() % size;
    while (begin < size && !in_word(begin)) ++begin;
    while (begin > 0 && in_word(begin - 1)) --begin;
    size_t end = begin;
    while (end < size && in_word(end)) ++end;
    return std::pair(begin, end);
  };
  const auto [from, from_end] = word();
  const auto [to, to_end] = word();
  std::string text(reinterpret_cast<const char*>(data), size);
  text.replace(to, to_end - to, std::string(text, from, from_end - from));
  if (text.size() > max_size) return size;
  std::memcpy(data, text.data(), text.size());
  return text.size();
}
