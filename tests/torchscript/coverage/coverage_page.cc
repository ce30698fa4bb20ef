// Makes the text of docs/coverage/torchscript.md from the table of operators.
#include "tests/coverage/coverage_page.h"

#include <sstream>

#include "frontends/torchscript/operator_table.h"

namespace ember::tests {
namespace {

constexpr std::string_view kIntroduction =
    R"(# TorchScript coverage

Written by `./dev coverage-page` from the rows of `frontends/torchscript/operator_table.h`; do not edit. Names and parameters are those of
PyTorch's schemas; without a namespace they are of `aten`. "Operand" is a tensor or a number, "Number" a number that is no tensor. Each operator
on tensors may also be written with `_` behind its name, and then writes to its first operand. What the code of an archive may hold beyond operators,
and what of that is missing, is in [formats](../formats.md#torchscript).

)";

}  // namespace

std::string CoveragePage() {
  std::ostringstream there;
  std::ostringstream missing;
  size_t supported = 0;
  size_t refused = 0;
  for (const std::string& name : torchscript::OperatorNames()) {
    std::string forms;
    std::string_view reason;
    for (const torchscript::TableEntry& entry :
         torchscript::FindOperator(name)) {
      if (!entry.row->is_supported()) {
        reason = entry.row->reason;
        continue;
      }
      const std::string_view schema = entry.row->schema;
      forms += (forms.empty() ? "`" : "<br>`") +
               std::string(schema.substr(schema.find('('))) + "`";
    }
    const std::string shown =
        name.starts_with("aten::") ? name.substr(6) : name;
    if (forms.empty()) {
      ++refused;
      missing << "| " << shown << " | " << reason << " |\n";
      continue;
    }
    ++supported;
    there << "| " << shown << " | " << forms
          << (reason.empty() ? "" : "; not with " + std::string(reason))
          << " |\n";
  }
  std::ostringstream page;
  page << kIntroduction << "## Operators (" << supported
       << ")\n\n| operator | parameters |\n| --- | --- |\n"
       << there.str() << "\n## Not there (" << refused
       << ")\n\nNames that are in neither list are not there either. A model "
          "is refused with all that it needs of them.\n\n| operator | why |\n"
          "| --- | --- |\n"
       << missing.str();
  return page.str();
}

}  // namespace ember::tests
