// Makes the text of docs/coverage/gguf.md: the architectures and the types of
// weights, from their tables in frontends/language_models.
#include "tests/coverage/coverage_page.h"

#include <sstream>
#include <string_view>

#include "frontends/language_models/architectures.h"
#include "frontends/language_models/block_formats.h"

namespace ember::tests {
namespace {

using language_models::Architecture;
using language_models::Layout;
using language_models::Positions;

constexpr std::string_view kIntroduction = R"(# GGUF coverage

Written by `./dev coverage-page` from `frontends/language_models/architectures.h` and `block_formats.h`; do not edit. What
files may hold beyond that is in [formats](../formats.md#gguf).

)";

std::string_view PositionsText(const Architecture& row) {
  switch (row.positions) {
    case Positions::kRotaryPairs:
      return "rotary, neighbours";
    case Positions::kRotaryHalves:
      return "rotary, halves";
    case Positions::kLearned:
      return "learned";
  }
  return "";
}

std::string_view LayoutText(const Architecture& row) {
  switch (row.layout) {
    case Layout::kSequential:
      return "norms before";
    case Layout::kParallel:
      return "parallel";
    case Layout::kPostNorm:
      return "norms after";
  }
  return "";
}

}  // namespace

std::string CoveragePage() {
  std::ostringstream page;
  page << kIntroduction << "## Architectures\n\n"
       << "| architecture | positions | layers | kind |\n"
       << "| --- | --- | --- | --- |\n";
  for (const Architecture& row : language_models::Architectures()) {
    page << "| " << row.name << " | " << PositionsText(row) << " | "
         << LayoutText(row) << " | " << (row.is_causal ? "decoder" : "encoder")
         << " |\n";
  }
  page << "\n## Types of weights\n\n"
       << "| type | bits of an element | elements of a block |\n"
       << "| --- | --- | --- |\n";
  for (const auto& info : language_models::kBlockFormats) {
    page << "| " << info.name << " | "
         << 8.0 * static_cast<double>(info.bytes) /
                static_cast<double>(info.elements)
         << " | " << info.elements << " |\n";
  }
  return page.str();
}

}  // namespace ember::tests
