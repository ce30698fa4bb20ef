// The operators that ONNX publishes, and the first opset of each: the coverage
// page compares the operator table with them. They come from the schemas of the
// onnx package (opsets 1 to 17) and from the change log of the later ones, to
// 28.
#ifndef EMBER_TESTS_ONNX_COVERAGE_PUBLISHED_OPERATORS_H_
#define EMBER_TESTS_ONNX_COVERAGE_PUBLISHED_OPERATORS_H_

#include <span>
#include <string_view>

namespace ember::tests {

struct PublishedOperator {
  std::string_view domain;  // domain of the operator; "" means ai.onnx
  std::string_view name;
  int since;
};

// Returns the operators, sorted by domain, then by name.
std::span<const PublishedOperator> PublishedOperators();

}  // namespace ember::tests

#endif  // EMBER_TESTS_ONNX_COVERAGE_PUBLISHED_OPERATORS_H_
