// Makes the text of docs/coverage/caffe.md: every type of layer, and the reason
// why a type is not supported. It is made from frontends/caffe/layer_table.h
// alone.
#include "tests/coverage/coverage_page.h"

#include <algorithm>
#include <span>
#include <sstream>

#include "frontends/caffe/layer_table.h"

namespace ember::tests {
namespace {

using caffe::LayerRow;

constexpr std::string_view kIntroduction =
    R"(# Caffe coverage

Written by `./dev coverage-page` from `frontends/caffe/layer_table.h`; do not edit. What nets may hold beyond
layers, and what of that is missing, is in [formats](../formats.md#caffe).

)";

std::string Range(int minimum, int maximum) {
  std::string text = std::to_string(minimum);
  if (maximum == caffe::kMany) return text + " or more";
  if (maximum != minimum) text += " to " + std::to_string(maximum);
  return text;
}

size_t Supported(std::span<const LayerRow> rows) {
  return static_cast<size_t>(
      std::count_if(rows.begin(), rows.end(),
                    [](const LayerRow& row) { return row.reason.empty(); }));
}

void AddRows(std::string_view title, std::span<const LayerRow> rows,
             std::ostringstream& page) {
  page << "## " << title << " (" << Supported(rows) << " of " << rows.size()
       << ")\n\n| layer | bottoms | tops |\n| --- | --- | --- |\n";
  for (const LayerRow& row : rows) {
    if (!row.reason.empty()) continue;
    page << "| " << row.type << " | ";
    if (row.is_input()) {
      page << "none | inputs of the model |\n";
    } else {
      page << Range(row.minimum_bottoms, row.maximum_bottoms) << " | "
           << Range(row.minimum_tops, row.maximum_tops) << " |\n";
    }
  }
  page << "\n| not there | why |\n| --- | --- |\n";
  for (const LayerRow& row : rows) {
    if (!row.reason.empty())
      page << "| " << row.type << " | " << row.reason << " |\n";
  }
}

}  // namespace

std::string CoveragePage() {
  std::ostringstream page;
  page << kIntroduction;
  AddRows("Layers of BVLC Caffe", caffe::Layers(), page);
  page << "\n";
  AddRows("Layers of forks", caffe::ForkLayers(), page);
  return page.str();
}

}  // namespace ember::tests
