#include "tests/stablehlo/run_program.h"

#include <cmath>

#include "frontends/stablehlo/import.h"
#include "tests/formats/numbers.h"

namespace ember::tests {
namespace {

// Replaces NaN and infinities by numbers that occur in no case, because their
// difference to an expected result is no number.
void ReplaceSpecial(std::vector<Numbers>& tensors) {
  for (Numbers& tensor : tensors) {
    for (double& value : tensor.values) {
      if (std::isnan(value)) value = 1.5e300;
      if (std::isinf(value)) value = value > 0 ? 2.5e300 : -2.5e300;
    }
  }
}

}  // namespace

std::string TypeText(const Numbers& numbers) {
  std::string text = "tensor<";
  for (const int64_t dim : numbers.dims) text += std::to_string(dim) + "x";
  std::string element(DTypeName(numbers.type));
  if (element == "bool") element = "i1";
  if (element[0] == 'u') element = "ui" + element.substr(1);
  return text + element + ">";
}

std::string ProgramOf(const std::vector<Numbers>& inputs,
                      const std::vector<Numbers>& results,
                      std::string_view body) {
  std::string arguments, values, types;
  for (size_t i = 0; i < inputs.size(); ++i) {
    arguments += std::string(i == 0 ? "%" : ", %") +
                 static_cast<char>('a' + i) + ": " + TypeText(inputs[i]);
  }
  for (size_t i = 0; i < results.size(); ++i) {
    values += std::string(i == 0 ? "%r" : ", %r") +
              (results.size() > 1 ? "#" + std::to_string(i) : "");
    types += (i == 0 ? "" : ", ") + TypeText(results[i]);
  }
  return "func.func @main(" + arguments + ") -> (" + types + ") {\n" +
         std::string(body) + "\nreturn " + values + " : " + types + "\n}\n";
}

StatusOr<std::vector<Numbers>> RunProgram(
    std::string_view text, const std::vector<Numbers>& inputs,
    const frontends::ImportOptions& options) {
  return RunOnNumbers(stablehlo::ImportModelContents(text, options), inputs);
}

void ExpectResults(StatusOr<std::vector<Numbers>> results,
                   std::vector<Numbers> expected, double tolerance) {
  if (results.ok()) ReplaceSpecial(*results);
  ReplaceSpecial(expected);
  ExpectNumbers(results, expected, tolerance);
}

}  // namespace ember::tests
