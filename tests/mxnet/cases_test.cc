// Runs cases/*.case: symbols of one MXNet operator
// (tests/import_cases/README.md). Attributes are texts, as in MXNet's files.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/concat.h"
#include "base/status.h"
#include "compiler/graph/graph.h"
#include "tests/import_cases/import_case.h"
#include "tests/import_cases/run_import_cases.h"
#include "tests/mxnet/one_operator.h"

namespace ember::tests {
namespace {

bool HasOpenDims(const CaseTensor& operand) {
  return std::ranges::any_of(
      operand.open, [](const std::string& open) { return !open.empty(); });
}

StatusOr<graph::Graph> ImportOperator(const ImportCase& one) {
  if (!one.settings.empty()) {
    return InvalidArgumentError(
        Concat({"unknown setting '", one.settings.begin()->first, "'"}));
  }
  std::vector<std::pair<std::string, std::string>> attributes;
  for (const auto& [name, value] : one.attributes) {
    const auto* text = std::get_if<std::string>(&value);
    if (text == nullptr) {
      return InvalidArgumentError(
          Concat({"expected a text as attribute '", name, "'"}));
    }
    attributes.emplace_back(name, *text);
  }
  OneMxnetOperator op(one.op, std::move(attributes));
  for (const CaseTensor& operand : one.operands) {
    if (operand.is_strings || operand.is_absent || HasOpenDims(operand)) {
      return InvalidArgumentError(
          Concat({"expected numbers of known dims as '", operand.name, "'"}));
    }
    if (operand.is_constant)
      op.Constant(operand.numbers);
    else
      op.Input(operand.numbers);
  }
  // A case that expects an error lists no results, but its operator needs one.
  op.Results(std::max(1, static_cast<int>(one.results.size())));
  return op.Import();
}

}  // namespace
}  // namespace ember::tests

int main(int argc, char** argv) {
  return ember::tests::RunImportCases(argc, argv, "tests/mxnet/cases",
                                      ember::tests::ImportOperator);
}
