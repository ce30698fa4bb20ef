// Every operator of TensorFlow that can be in an inference graph: how it is
// imported, or why it is not. The list is of TensorFlow's registry, by what its
// converters let through
// (tensorflow/lite/delegates/flex/allowlisted_flex_ops.cc) and
// the families beside those.
//
//   row(name, minimum inputs, maximum inputs, results, function)
//   control(name, results)   graph_importer.h's own
//   none(name)               has no result, and is only there for its effects
//
// Those that are not imported are in unsupported_operators.cc, by the reason.
//
// results: the names of a node's results where it has several, in order, as
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
  // Null for what the importer does itself.
  ImportFunction import = nullptr;
  // Not empty: it is not supported, and why.
  std::string_view reason = "";
};

// In alphabetical order.
std::span<const OperatorRow> Operators();

// Null for operators that nobody here knows.
const OperatorRow* FindRow(std::string_view op);

}  // namespace ember::tensorflow

#endif  // EMBER_FRONTENDS_TENSORFLOW_OPERATOR_TABLE_H_
