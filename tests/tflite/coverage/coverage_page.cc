// Makes the text of docs/tflite-coverage.md: every builtin operator of the
// format, how its quantized operands are computed, and the reason why an
// operator is not supported. It is made from frontends/tflite/operator_table.h
// alone.
#include "tests/coverage/coverage_page.h"

#include <span>
#include <sstream>

#include "frontends/tflite/operator_table.h"

namespace ember::tests {
namespace {

using tflite::OperatorRow;
using tflite::Quantized;

constexpr std::string_view kIntroduction =
    R"(# TensorFlow Lite coverage

Written by `./dev coverage-page` from `frontends/tflite/operator_table.h`; do not edit. What the format's files
may hold beyond operators, and what of that is missing, is in [formats](formats.md#tensorflow-lite).

*Quantized operands*: `stored`: the stored integers are moved or compared as they are; `own`: arithmetic in
integers, with the format's rounding; `through reals`: the numbers that they stand for are computed with, and the
result is quantized, which may be one step off what the reference kernel gives.

)";

std::string_view Text(Quantized quantized) {
  switch (quantized) {
    case Quantized::kStored:
      return "stored";
    case Quantized::kOwn:
      return "own";
    case Quantized::kReal:
      return "through reals";
  }
  return "";
}

std::string Inputs(const OperatorRow& row) {
  std::string text = std::to_string(row.minimum_inputs);
  if (row.maximum_inputs == tflite::kManyInputs) return text + " or more";
  if (row.maximum_inputs != row.minimum_inputs)
    text += " to " + std::to_string(row.maximum_inputs);
  return text;
}

void AddRows(std::span<const OperatorRow> rows, std::ostringstream& page) {
  page << "| operator | operands | quantized operands |\n| --- | --- | --- |\n";
  for (const OperatorRow& row : rows) {
    if (!row.reason.empty() || row.name == "CUSTOM") continue;
    page << "| " << row.name << " | " << Inputs(row) << " | "
         << (row.import == nullptr ? "as its subgraphs take them"
                                   : Text(row.quantized))
         << " |\n";
  }
}

}  // namespace

std::string CoveragePage() {
  const auto builtin = tflite::BuiltinOperators();
  size_t there = 0, missing = 0;
  for (const OperatorRow& row : builtin) {
    if (row.name == "CUSTOM" || row.name == "PLACEHOLDER_FOR_GREATER_OP_CODES")
      continue;
    ++(row.reason.empty() ? there : missing);
  }
  std::ostringstream page;
  page << kIntroduction << "## Builtin operators (" << there << " of "
       << there + missing << ")\n\n";
  AddRows(builtin, page);
  page << "\n## Custom operators\n\n";
  AddRows(tflite::CustomOperators(), page);
  page << "\n## Not there (" << missing << ")\n\n| operator | why |\n"
       << "| --- | --- |\n";
  for (const OperatorRow& row : builtin) {
    if (!row.reason.empty() && row.name != "PLACEHOLDER_FOR_GREATER_OP_CODES")
      page << "| " << row.name << " | " << row.reason << " |\n";
  }
  return page.str();
}

}  // namespace ember::tests
