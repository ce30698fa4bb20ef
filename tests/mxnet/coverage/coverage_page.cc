// Makes the text of docs/coverage/mxnet.md from the table of operators.
#include "tests/coverage/coverage_page.h"

#include <sstream>

#include "frontends/mxnet/operator_table.h"

namespace ember::tests {
namespace {

constexpr std::string_view kIntroduction =
    R"(# MXNet coverage

Written by `./dev coverage-page` from `frontends/mxnet/operator_table.h`; do not edit. Names are those that MXNet registers, aliases
included. What the files may hold beyond operators, and what of that is missing, is in [formats](../formats.md#mxnet).

)";

std::string Inputs(const mxnet::OperatorRow& row) {
  std::string text = std::to_string(row.minimum_inputs);
  if (row.maximum_inputs == mxnet::kManyInputs) return text + " or more";
  if (row.maximum_inputs != row.minimum_inputs)
    text += " to " + std::to_string(row.maximum_inputs);
  return text;
}

}  // namespace

std::string CoveragePage() {
  size_t there = 0, missing = 0;
  for (const mxnet::OperatorRow& row : mxnet::Operators())
    ++(row.reason.empty() ? there : missing);
  std::ostringstream page;
  page << kIntroduction << "## Operators (" << there << " of "
       << there + missing << ")\n\n| operator | operands |\n| --- | --- |\n";
  for (const mxnet::OperatorRow& row : mxnet::Operators()) {
    if (row.reason.empty())
      page << "| " << row.name << " | " << Inputs(row) << " |\n";
  }
  page << "\n## Not there (" << missing
       << ")\n\nBesides these, all of numpy's interface: names that begin with "
          "_np, _npi and _npx.\n\n| operator | why |\n| --- | --- |\n";
  for (const mxnet::OperatorRow& row : mxnet::Operators()) {
    if (!row.reason.empty())
      page << "| " << row.name << " | " << row.reason << " |\n";
  }
  return page.str();
}

}  // namespace ember::tests
