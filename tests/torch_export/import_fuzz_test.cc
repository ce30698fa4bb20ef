// Fuzzes archives of torch.export from strangers: importing, compiling, loading
// and running them under limits must not do harm. An input is an archive, whose
// bytes or words are changed, or the JSON of a program, whose parts are
// replaced by others and which is put into an archive with all tensors of the
// samples.
//
//   ./dev fuzz --seconds=3600 //tests/torch_export:import_fuzz_test
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frontends/torch_export/extents.h"
#include "frontends/torch_export/import.h"
#include "frontends/torch_export/testing/sample_models.h"
#include "tests/import_fuzzing/import_fuzzing.h"

namespace ember::tests {
namespace {

const torch_export::ProgramBuilder& AllTensors() {
  static const auto* const tensors = [] {
    auto* all = new torch_export::ProgramBuilder;
    for (const std::string_view name : torch_export::SampleModelNames())
      all->AddTensorsOf(torch_export::SampleProgram(name));
    return all;
  }();
  return *tensors;
}

// Returns the position and length of a string, number or word of the JSON from
// some position on, or of a list or object with its contents.
std::pair<size_t, size_t> PartFrom(std::string_view json, size_t at) {
  constexpr std::string_view kBetween = " ,:]}";
  at = std::min(json.find_first_not_of(kBetween, at), json.size());
  if (at == json.size()) return {at, 0};
  size_t end = at;
  int depth = 0;
  do {
    const char c = json[end];
    if (c == '"') {
      ++end;
      while (end < json.size() && json[end] != '"') ++end;
    }
    depth += c == '[' || c == '{' ? 1 : c == ']' || c == '}' ? -1 : 0;
    if (end < json.size()) ++end;
    if (depth == 0 && c != '"' && c != ']' && c != '}')
      end = std::min(json.find_first_of(kBetween, end), json.size());
  } while (depth > 0 && end < json.size());
  return {at, end - at};
}

// Replaces a random part of the JSON text by a copy of another part of the same
// text, or by an edge case such as -1 or null.
std::string WithOtherPart(std::string json, std::mt19937_64& random) {
  static constexpr std::string_view kEdges[] = {
      "0",  "-1", "1",    "2",     "9223372036854775807",  "-3",
      "[]", "{}", "null", "1e300", "18446744073709551615", "\"x\""};
  const auto [at, size] = PartFrom(json, random() % json.size());
  std::string other;
  if (random() % 3 == 0) {
    other = kEdges[random() % std::size(kEdges)];
  } else {
    const auto [from, length] = PartFrom(json, random() % json.size());
    other = json.substr(from, length);
  }
  return json.replace(at, size, other);
}

}  // namespace
}  // namespace ember::tests

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  using namespace ember;
  std::vector<tests::Sample> samples;
  for (const std::string_view name : torch_export::SampleModelNames()) {
    const torch_export::ProgramBuilder program =
        torch_export::SampleProgram(name);
    samples.emplace_back(name, program.Archive());
    samples.emplace_back(std::string(name) + "_old", program.OldArchive());
    samples.emplace_back(std::string(name) + "_json", program.ProgramJson());
  }
  tests::StartFromSamples(samples, argc, argv);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace ember;
  std::string input(reinterpret_cast<const char*>(data), size);
  (void)torch_export::ParseExtent(input);
  if (input.starts_with('{')) input = tests::AllTensors().ArchiveOf(input);
  tests::RunImported(
      torch_export::ImportModelBytes(
          {reinterpret_cast<const uint8_t*>(input.data()), input.size()},
          nullptr, {}),
      size);
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size,
                                          size_t max_size, unsigned int seed) {
  if (size == 0 || data[0] != '{')
    return ember::tests::MutateBytesOrWords(data, size, max_size, seed);
  std::mt19937_64 random(seed);
  const std::string json = ember::tests::WithOtherPart(
      std::string(reinterpret_cast<const char*>(data), size), random);
  const size_t length = std::min(json.size(), max_size);
  std::copy_n(json.begin(), length, data);
  return length;
}
