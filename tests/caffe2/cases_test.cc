// Runs cases/*.case: nets of one Caffe2 operator
// (tests/import_cases/README.md).
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/concat.h"
#include "base/status.h"
#include "compiler/graph/graph.h"
#include "tests/caffe2/one_operator.h"
#include "tests/import_cases/import_case.h"
#include "tests/import_cases/run_import_cases.h"

namespace ember::tests {
namespace {

// Writes a case's attribute as an argument of a Caffe2 operator. There is a
// function for each type of value.
struct Writer {
  const std::string& name;

  StatusOr<std::string> operator()(int64_t value) const {
    return Int(name, value);
  }
  StatusOr<std::string> operator()(double value) const {
    return Real(name, value);
  }
  StatusOr<std::string> operator()(const std::string& value) const {
    return Word(name, value);
  }
  StatusOr<std::string> operator()(const std::vector<int64_t>& values) const {
    return Ints(name, values);
  }
  template <typename Other>
  StatusOr<std::string> operator()(const Other& value) const {
    return InvalidArgumentError(Concat({"attribute '", name,
                                        "': expected a number, a text or "
                                        "integers"}));
  }
};

bool HasOpenDims(const CaseTensor& operand) {
  return std::ranges::any_of(
      operand.open, [](const std::string& open) { return !open.empty(); });
}

StatusOr<graph::Graph> ImportOperator(const ImportCase& one) {
  if (!one.settings.empty()) {
    return InvalidArgumentError(
        Concat({"unknown setting '", one.settings.begin()->first, "'"}));
  }
  std::string arguments;
  for (const auto& [name, value] : one.attributes) {
    EMBER_ASSIGN_OR_RETURN(const std::string argument,
                           std::visit(Writer{name}, value));
    arguments += argument;
  }
  OneCaffe2Operator op(one.op, arguments);
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
  return ember::tests::RunImportCases(argc, argv, "tests/caffe2/cases",
                                      ember::tests::ImportOperator);
}
