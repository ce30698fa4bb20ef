// The operators that ONNX publishes, and the first opset each is in: what the
// coverage page measures the operator table against. From the schemas of the
// onnx package (opsets 1 to 17) and the change log of the later ones, to 28.
#ifndef EMBER_TESTS_ONNX_COVERAGE_PUBLISHED_OPERATORS_H_
#define EMBER_TESTS_ONNX_COVERAGE_PUBLISHED_OPERATORS_H_

#include <span>
#include <string_view>

namespace ember::tests {

struct PublishedOperator {
  std::string_view domain;  // "" is ai.onnx
  std::string_view name;
  int since;
};

// By domain, then by name.
std::span<const PublishedOperator> PublishedOperators();

}  // namespace ember::tests

#endif  // EMBER_TESTS_ONNX_COVERAGE_PUBLISHED_OPERATORS_H_
