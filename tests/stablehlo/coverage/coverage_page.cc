// Makes the text of docs/coverage/stablehlo.md from the table of operators.
#include "tests/coverage/coverage_page.h"

#include <sstream>

#include "frontends/stablehlo/operator_table.h"

namespace ember::tests {
namespace {

constexpr std::string_view kIntroduction =
    R"(# StableHLO coverage

Written by `./dev coverage-page` from `frontends/stablehlo/operator_table.h`; do not edit. The operators of the specification, of chlo, and
of the dialects that come with them. What of programs is missing besides is in [formats](../formats.md#stablehlo).

)";

}  // namespace

std::string CoveragePage() {
  size_t there = 0, missing = 0;
  for (const stablehlo::OperatorRow& row : stablehlo::Operators())
    ++(row.reason.empty() ? there : missing);
  std::ostringstream page;
  page << kIntroduction << "## Operators (" << there << " of "
       << there + missing
       << ")\n\n| operator | in regions that combine many elements |\n"
          "| --- | --- |\n";
  for (const stablehlo::OperatorRow& row : stablehlo::Operators()) {
    if (row.reason.empty())
      page << "| " << row.name << " | "
           << (row.traits & stablehlo::kElementwise ? "yes" : "") << " |\n";
  }
  page << "\n## Not there (" << missing
       << ")\n\n| operator | why |\n| --- | --- |\n";
  for (const stablehlo::OperatorRow& row : stablehlo::Operators()) {
    if (!row.reason.empty())
      page << "| " << row.name << " | " << row.reason << " |\n";
  }
  return page.str();
}

}  // namespace ember::tests
