// Defines CoveragePage for Caffe2: it makes the text of docs/coverage/caffe2.md
// from the table of operators.
#include "tests/coverage/coverage_page.h"

#include <sstream>

#include "frontends/caffe2/operator_table.h"

namespace ember::tests {
namespace {

constexpr std::string_view kIntroduction =
    R"(# Caffe2 coverage

Written by `./dev coverage-page` from `frontends/caffe2/operator_table.h`; do not edit. Operands are those that an operator may have; what of
its arguments is missing is said by the error that names it. What the files may hold beyond operators is in [formats](../formats.md#caffe2).

)";

std::string Operands(const caffe2::OperatorRow& row) {
  if (row.maximum_inputs == caffe2::kManyInputs)
    return "at least " + std::to_string(row.minimum_inputs);
  if (row.maximum_inputs == row.minimum_inputs)
    return std::to_string(row.minimum_inputs);
  return std::to_string(row.minimum_inputs) + " to " +
         std::to_string(row.maximum_inputs);
}

}  // namespace

std::string CoveragePage() {
  std::ostringstream there, missing;
  size_t there_count = 0, missing_count = 0;
  for (const caffe2::OperatorRow& row : caffe2::Operators()) {
    if (row.reason.empty()) {
      ++there_count;
      there << "| " << row.name << " | " << Operands(row) << " |\n";
    } else {
      ++missing_count;
      missing << "| " << row.name << " | " << row.reason << " |\n";
    }
  }
  std::ostringstream page;
  page
      << kIntroduction << "## Operators (" << there_count << " of "
      << there_count + missing_count << ")\n\n| operator | operands |\n"
      << "| --- | --- |\n"
      << there.str() << "\n## Not there (" << missing_count
      << ")\n\nBesides these, all gradients (names that end with Gradient) and "
         "all operators on quantized integers (names that begin with Int8).\n\n"
         "| operator | why |\n| --- | --- |\n"
      << missing.str();
  return page.str();
}

}  // namespace ember::tests
