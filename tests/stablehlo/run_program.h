// Runs StableHLO programs end to end: imports, compiles and executes them, with
// operands and results written as numbers.
//
//   ExpectNumbers(RunProgram(text, {F32({2}, {1, 2})}), {F32({2}, {2, 3})});
//
// A test aid; thread-safe.
#ifndef EMBER_TESTS_STABLEHLO_RUN_PROGRAM_H_
#define EMBER_TESTS_STABLEHLO_RUN_PROGRAM_H_

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "frontends/frontend.h"
#include "tests/formats/numbers.h"

namespace ember::tests {

inline Numbers Of(DType type, std::vector<int64_t> dims,
                  std::vector<double> values) {
  return {type, std::move(dims), std::move(values)};
}
inline Numbers Bools(std::vector<int64_t> dims, std::vector<double> values) {
  return {DType::kBool, std::move(dims), std::move(values)};
}

// Returns the type of a tensor as StableHLO text, such as "tensor<2x3xf32>".
std::string TypeText(const Numbers& numbers);

// Returns the text of a program with one function, main. It has the arguments
// %a, %b, … and the given body, which defines %r, and it returns %r. If there
// are several results, it returns %r#0, %r#1, ….
std::string ProgramOf(const std::vector<Numbers>& inputs,
                      const std::vector<Numbers>& results,
                      std::string_view body);

StatusOr<std::vector<Numbers>> RunProgram(
    std::string_view text, const std::vector<Numbers>& inputs,
    const frontends::ImportOptions& options = {});

// Expects results as ExpectNumbers does, but infinities and NaNs are results
// like any other.
void ExpectResults(StatusOr<std::vector<Numbers>> results,
                   std::vector<Numbers> expected, double tolerance = 1e-5);

}  // namespace ember::tests

#endif  // EMBER_TESTS_STABLEHLO_RUN_PROGRAM_H_
