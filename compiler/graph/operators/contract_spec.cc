#include "compiler/graph/operators/contract_spec.h"

namespace ember::graph {
namespace {

bool IsLabel(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

Status SpecError(std::string_view text, std::string_view found) {
  return InvalidArgumentError(
      "spec: expected letters as in \"ik,kj->ij\", found \"" +
      std::string(text) + "\"" + std::string(found));
}

}  // namespace

StatusOr<ContractSpec> ContractSpec::Parse(std::string_view text) {
  const size_t comma = text.find(',');
  const size_t arrow = text.find("->");
  if (comma == std::string_view::npos || arrow == std::string_view::npos ||
      comma > arrow) {
    return SpecError(text, "");
  }
  ContractSpec spec{std::string(text.substr(0, comma)),
                    std::string(text.substr(comma + 1, arrow - comma - 1)),
                    std::string(text.substr(arrow + 2))};
  for (const std::string* labels : {&spec.a, &spec.b, &spec.result}) {
    for (char label : *labels) {
      if (!IsLabel(label)) return SpecError(text, "");
    }
  }
  for (size_t i = 0; i < spec.result.size(); ++i) {
    const char label = spec.result[i];
    if (spec.result.find(label, i + 1) != std::string::npos) {
      return SpecError(text, ": a label of the result comes twice");
    }
    if (spec.a.find(label) == std::string::npos &&
        spec.b.find(label) == std::string::npos) {
      return SpecError(text, ": a label of the result is in no operand");
    }
  }
  return spec;
}

std::string ContractSpec::Reduced() const {
  std::string reduced;
  for (char label : a + b) {
    if (result.find(label) == std::string::npos &&
        reduced.find(label) == std::string::npos) {
      reduced += label;
    }
  }
  return reduced;
}

}  // namespace ember::graph
