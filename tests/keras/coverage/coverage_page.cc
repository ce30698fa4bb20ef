// Makes the text of docs/coverage/keras.md from the table of layers.
#include "tests/coverage/coverage_page.h"

#include <sstream>

#include "frontends/keras/layer_table.h"

namespace ember::tests {
namespace {

constexpr std::string_view kIntroduction =
    R"(# Keras coverage

Written by `./dev coverage-page` from `frontends/keras/layer_table.h`; do not edit. What the files may hold beyond layers,
and what of that is missing, is in [formats](../formats.md#keras). Layers compute as they do outside of training.

*Masks*: `on`: the result has what counts in all inputs that have a mask; `off`: it has none; `own`: as the layer defines.

)";

std::string_view Text(keras::Masking masking) {
  switch (masking) {
    case keras::Masking::kPass:
      return "on";
    case keras::Masking::kDrop:
      return "off";
    case keras::Masking::kOwn:
      return "own";
  }
  return "";
}

}  // namespace

std::string CoveragePage() {
  size_t there = 0, missing = 0;
  for (const keras::LayerRow& row : keras::LayerRows())
    ++(row.reason.empty() ? there : missing);
  std::ostringstream page;
  page << kIntroduction << "## Layers (" << there << " of " << there + missing
       << ")\n\n| layer | masks |\n| --- | --- |\n";
  for (const keras::LayerRow& row : keras::LayerRows()) {
    if (row.reason.empty())
      page << "| " << row.name << " | " << Text(row.masking) << " |\n";
  }
  page << "\n## Functions (" << keras::FunctionRows().size()
       << ")\n\nFunctions that a functional model calls without a layer.\n\n"
       << "| Keras 2 (TFOpLambda) | Keras 3 (keras.ops) |\n| --- | --- |\n";
  for (const keras::FunctionRow& row : keras::FunctionRows()) {
    page << "| " << (row.keras2.empty() ? "" : "tf.") << row.keras2 << " | "
         << row.keras3 << " |\n";
  }
  page << "\n## Not there (" << missing << ")\n\n| layer | why |\n"
       << "| --- | --- |\n";
  for (const keras::LayerRow& row : keras::LayerRows()) {
    if (!row.reason.empty())
      page << "| " << row.name << " | " << row.reason << " |\n";
  }
  return page.str();
}

}  // namespace ember::tests
