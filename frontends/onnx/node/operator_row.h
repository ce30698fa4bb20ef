// A row of the table of ONNX operators: an operator's name, its first opset,
// its number of operands, and the function that decomposes a node into the
// graph's operators. To add an operator, add a row in its family's file, the
// function, and a test (docs/adding/onnx-operator.md).
#ifndef EMBER_FRONTENDS_ONNX_NODE_OPERATOR_ROW_H_
#define EMBER_FRONTENDS_ONNX_NODE_OPERATOR_ROW_H_

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>

#include "frontends/onnx/node/context.h"

namespace ember::onnx {

// The domain of ONNX Runtime's own operators.
inline constexpr char kMicrosoft[] = "com.microsoft";

inline constexpr int kVariadic = -1;

// The way in which an operator handles operands that have no dtype of their own
// (carried_types.h).
enum class CarriedTypes : uint8_t {
  kRefused,
  kMoved,    // its results have the type of the operands that are moved
  kHandled,  // its importer handles Tensor::carried_type
  kNumbers,  // like kHandled, but without strings
  kStrings,  // like kHandled, but strings only
};

// The rule of an operator for carried types. For kMoved it also has the
// operands whose elements go into the results. The other operands are indices,
// sizes or conditions, which have a dtype of their own.
struct CarriedOperands {
  // Implicit, as most rows give only a rule.
  // NOLINTNEXTLINE(google-explicit-constructor)
  constexpr CarriedOperands(CarriedTypes rule = CarriedTypes::kRefused)
      : rule(rule) {}

  constexpr bool Moves(int operand) const {
    return rule == CarriedTypes::kMoved &&
           ((moved >> std::min(operand, 31)) & 1) != 0;
  }

  CarriedTypes rule;
  uint32_t moved = 0;  // bit i: operand i; bit 31: operand 31 and all after it
};

constexpr CarriedOperands Moves(std::initializer_list<int> operands) {
  CarriedOperands result(CarriedTypes::kMoved);
  for (const int operand : operands) result.moved |= uint32_t{1} << operand;
  return result;
}

inline constexpr CarriedOperands kAllMoved = [] {
  CarriedOperands result(CarriedTypes::kMoved);
  result.moved = ~uint32_t{0};
  return result;
}();

// The values other than tensors that an operator accepts: kTaken for sequences
// and optionals, kMaps for maps (sequence.h).
enum class Sequences : uint8_t { kRefused, kTaken, kMaps };

struct OperatorRow {
  std::string_view name;
  int since;           // first opset
  int minimum_inputs;  // these must be present
  int maximum_inputs;  // kVariadic: any number
  void (*import)(NodeContext& context);
  std::string_view domain = "";
  CarriedOperands carried;
  // The opset whose rules the operator follows, if it is an operator of the
  // default domain under the name of another domain.
  int as_opset = 0;
  Sequences sequences = Sequences::kRefused;
};

}  // namespace ember::onnx

#endif  // EMBER_FRONTENDS_ONNX_NODE_OPERATOR_ROW_H_
