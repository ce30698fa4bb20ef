// Makes the text of docs/coverage/coreml.md from the tables of layers and
// operations.
#include "tests/coverage/coverage_page.h"

#include <sstream>

#include "frontends/coreml/import.h"
#include "frontends/coreml/layer_table.h"
#include "frontends/coreml/mil_operation.h"
#include "frontends/coreml/model.h"

namespace ember::tests {
namespace {

constexpr std::string_view kIntroduction =
    R"(# Core ML coverage

Written by `./dev coverage-page` from `frontends/coreml/layer_table.h`, `frontends/coreml/mil_*.cc` and
`frontends/coreml/model.cc`; do not edit. How inputs, types and files are read is in [formats](../formats.md#core-ml).

)";

void PrintLayers(std::ostream& page) {
  size_t there = 0;
  for (const coreml::LayerRow& row : coreml::Layers())
    there += row.is_read() ? 1 : 0;
  page << "## Layers of neural networks (" << there << " of "
       << coreml::Layers().size()
       << ")\n\n| layer | field | inputs |\n| --- | --- | --- |\n";
  for (const coreml::LayerRow& row : coreml::Layers()) {
    if (!row.is_read()) continue;
    page << "| " << row.name << " | " << row.number << " | "
         << row.minimum_inputs;
    if (row.maximum_inputs == coreml::kMany) {
      page << " or more";
    } else if (row.maximum_inputs > row.minimum_inputs) {
      page << " to " << row.maximum_inputs;
    }
    page << " |\n";
  }
  page << "\nNot there:\n\n| layer | field | why |\n| --- | --- | --- |\n";
  for (const coreml::LayerRow& row : coreml::Layers()) {
    if (!row.is_read())
      page << "| " << row.name << " | " << row.number << " | " << row.reason
           << " |\n";
  }
}

}  // namespace

std::string CoveragePage() {
  std::ostringstream page;
  page << kIntroduction << "## Kinds of models\n\n| kind | field | |\n"
       << "| --- | --- | --- |\n";
  for (const uint64_t kind : coreml::KnownKinds()) {
    page << "| " << coreml::KindName(kind) << " | " << kind << " | "
         << (coreml::ReadsKind(kind) ? "yes" : "no") << " |\n";
  }
  page << "\n";
  PrintLayers(page);
  const std::vector<std::string_view> names = coreml::MilNames();
  page << "\n## Operations of ML programs (" << names.size() << ")\n\n";
  std::string_view separator = "`";
  for (const std::string_view name : names) {
    page << separator << name << "`";
    separator = ", `";
  }
  page << ".\n";
  return page.str();
}

}  // namespace ember::tests
