// Every operator of TensorFlow that can be in an inference graph, with the
// function that imports it or the reason for which it is not supported. The
// operators are those of TensorFlow's registry that its converters accept
// (tensorflow/lite/delegates/flex/allowlisted_flex_ops.cc), and further
// families.
//
//   row(name, minimum inputs, maximum inputs, results, function)
//   control(name, results)   imported by graph_importer.h itself
//   none(name)               has no result, and only exists for its effects
//
// Operators that are not supported are in unsupported_operators.cc, by the
// reason.
//
// results: the names of a node's results if it has several, in order, by which
// functions refer to them ("indices" in "node:indices:0").
#ifndef EMBER_FRONTENDS_TENSORFLOW_OPERATOR_TABLE_H_
#define EMBER_FRONTENDS_TENSORFLOW_OPERATOR_TABLE_H_

#include <cstdint>
#include <span>
#include <string_view>

#include "frontends/tensorflow/operators.h"

namespace ember::tensorflow {

inline constexpr int kManyInputs = 1 << 20;

enum class OperatorKind : uint8_t { kOperator, kControl, kNoResult };

using ImportFunction = void (*)(OperatorContext& c);

struct OperatorRow {
  std::string_view name;
  OperatorKind kind = OperatorKind::kOperator;
  int minimum_inputs = 0;
  int maximum_inputs = 0;
  std::string_view results = "";
  // The function that imports the operator. Null for operators that the
  // importer handles itself, and for unsupported ones.
  ImportFunction import = nullptr;
  // If not empty, the operator is not supported, and this text is the reason.
  std::string_view reason = "";
};

// Returns all rows in alphabetical order.
std::span<const OperatorRow> Operators();

// Returns the row of an operator; null for unknown operators.
const OperatorRow* FindRow(std::string_view op);

}  // namespace ember::tensorflow

#endif  // EMBER_FRONTENDS_TENSORFLOW_OPERATOR_TABLE_H_
