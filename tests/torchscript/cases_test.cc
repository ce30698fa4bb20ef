// Runs cases/*.case: modules whose forward returns one TorchScript expression
// (tests/import_cases/README.md). The expression is the operator of the case
// and uses the operands by their names.
#include <cstdint>
#include <optional>
#include <string>

#include "base/concat.h"
#include "base/status.h"
#include "compiler/graph/graph.h"
#include "frontends/torchscript/import.h"
#include "frontends/torchscript/testing/archive_builder.h"
#include "tests/import_cases/import_case.h"
#include "tests/import_cases/run_import_cases.h"

namespace ember::tests {
namespace {

StatusOr<graph::Graph> ImportExpression(const ImportCase& one) {
  if (!one.settings.empty()) {
    return InvalidArgumentError(
        Concat({"unknown setting '", one.settings.begin()->first, "'"}));
  }
  if (!one.attributes.empty()) {
    return InvalidArgumentError(Concat(
        {"expected no attributes, found '", one.attributes[0].first, "'"}));
  }
  torchscript::ArchiveBuilder archive;
  frontends::ImportOptions options;
  std::string code = "class Net(Module):\n  def forward(self: __torch__.Net";
  for (const CaseTensor& operand : one.operands) {
    if (operand.is_strings || operand.is_absent || operand.is_constant) {
      return InvalidArgumentError(Concat(
          {"expected numbers given at run time as '", operand.name, "'"}));
    }
    code += ",\n    " + operand.name + ": Tensor";
    archive.TracedInput(operand.numbers.type, operand.numbers.dims);
    auto& shape = options.input_shapes[operand.name];
    for (size_t i = 0; i < operand.open.size(); ++i) {
      if (operand.open[i].empty())
        shape.emplace_back(operand.numbers.dims[i]);
      else
        shape.emplace_back(std::nullopt);
    }
  }
  archive.Code(code + ") -> Tensor:\n    return " + one.op + "\n");
  const std::string file = archive.Finish();
  return torchscript::ImportModelBytes(
      {reinterpret_cast<const uint8_t*>(file.data()), file.size()}, nullptr,
      options);
}

}  // namespace
}  // namespace ember::tests

int main(int argc, char** argv) {
  return ember::tests::RunImportCases(argc, argv, "tests/torchscript/cases",
                                      ember::tests::ImportExpression);
}
