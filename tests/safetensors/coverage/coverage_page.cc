// Makes the text of docs/coverage/safetensors.md: the classes of models, from
// frontends/language_models/architectures.h.
#include "tests/coverage/coverage_page.h"

#include <sstream>
#include <string_view>

#include "frontends/language_models/architectures.h"

namespace ember::tests {
namespace {

constexpr std::string_view kIntroduction = R"(# safetensors coverage

Written by `./dev coverage-page` from `frontends/language_models/architectures.h`; do not edit. What folders may hold is in
[formats](../formats.md#safetensors).

| class in config.json | architecture |
| --- | --- |
)";

}  // namespace

std::string CoveragePage() {
  std::ostringstream page;
  page << kIntroduction;
  for (const auto& row : language_models::Architectures()) {
    if (row.hf_class.empty()) continue;
    page << "| " << row.hf_class << " | [" << row.name
         << "](gguf.md#architectures) |\n";
  }
  return page.str();
}

}  // namespace ember::tests
