// Makes the text of docs/coverage/tensorflow.md: every operator that the table
// knows, and the reason why an operator is not supported. It is made from
// frontends/tensorflow/operator_table.h alone.
#include "tests/coverage/coverage_page.h"

#include <map>
#include <sstream>
#include <string_view>

#include "frontends/tensorflow/operator_table.h"

namespace ember::tests {
namespace {

using tensorflow::OperatorKind;
using tensorflow::OperatorRow;

constexpr std::string_view kIntroduction =
    R"(# TensorFlow coverage

Written by `./dev coverage-page` from `frontends/tensorflow/operator_table.cc`; do not edit. What graphs and SavedModels
may hold beyond operators, and what of that is missing, is in [formats](../formats.md#tensorflow).

The operators are those of TensorFlow's registry that its own converter lets into an inference graph
(`allowlisted_flex_ops.cc`), with what functional control flow, lists and older versions have besides. One that is not
here at all is refused by its name, too.

)";

std::string Inputs(const OperatorRow& row) {
  if (row.kind == OperatorKind::kControl) return "by the importer";
  if (row.kind == OperatorKind::kNoResult) return "passed over: no result";
  std::string text = std::to_string(row.minimum_inputs);
  if (row.maximum_inputs == tensorflow::kManyInputs) return text + " or more";
  if (row.maximum_inputs != row.minimum_inputs)
    text += " to " + std::to_string(row.maximum_inputs);
  return text;
}

}  // namespace

std::string CoveragePage() {
  size_t there = 0;
  std::map<std::string_view, std::string> missing;
  for (const OperatorRow& row : tensorflow::Operators()) {
    there += row.reason.empty() ? 1 : 0;
    if (row.reason.empty()) continue;
    std::string& names = missing[row.reason];
    names += (names.empty() ? "" : ", ") + std::string(row.name);
  }
  const size_t all = tensorflow::Operators().size();
  std::ostringstream page;
  page << kIntroduction << "## Operators (" << there << " of " << all << ")\n\n"
       << "| operator | operands |\n| --- | --- |\n";
  for (const OperatorRow& row : tensorflow::Operators()) {
    if (row.reason.empty())
      page << "| " << row.name << " | " << Inputs(row) << " |\n";
  }
  page << "\n## Not there (" << all - there << ")\n\n";
  for (const auto& [reason, names] : missing)
    page << "- *" << reason << "*: " << names << "\n";
  return page.str();
}

}  // namespace ember::tests
