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
  // The operator only moves elements, so its results have the carried type of
  // the operands whose elements are moved.
  kMoved,
  // Accepts all carried types: the import function checks Tensor::carried_type.
  kHandled,
  kNumbers,  // Like kHandled, but operands of type STRING are refused.
  kStrings,  // Like kHandled, but only operands of type STRING are accepted.
};

// The rule by which an operator treats operands of carried types. For kMoved it
// also says which operands' elements go into the results; the other operands
// are indices, sizes or conditions, which have a dtype of their own.
struct CarriedOperands {
  // The constructor is implicit, because most rows of the table give only a
  // rule. NOLINTNEXTLINE(google-explicit-constructor)
  constexpr CarriedOperands(CarriedTypes rule = CarriedTypes::kRefused)
      : rule(rule) {}

  constexpr bool Moves(int operand) const {
    return rule == CarriedTypes::kMoved &&
           ((moved >> std::min(operand, 31)) & 1) != 0;
  }

  CarriedTypes rule;
  // Bit i is set if the elements of operand i go into the results. Bit 31 is
  // for operand 31 and all operands after it.
  uint32_t moved = 0;
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

// The values other than tensors that an operator accepts as operands. kTaken:
// sequences and optionals; kMaps: maps (sequence.h).
enum class Sequences : uint8_t { kRefused, kTaken, kMaps };

struct OperatorRow {
  std::string_view name;
  int since;           // first opset
  int minimum_inputs;  // Number of leading inputs that a node must have.
  int maximum_inputs;  // kVariadic: any number
  void (*import)(NodeContext& context);
  std::string_view domain = "";
  CarriedOperands carried;
  // For a row in another domain, whose operator has the name of one of the
  // default domain: the opset of the default domain whose rules it follows.
  // Else 0.
  int as_opset = 0;
  Sequences sequences = Sequences::kRefused;
};

// Imports an operator that applies a scalar function, such as those of
// ops/functions.h, to each element of its operand.
template <Tensor (*kFunction)(Tensor)>
void ImportScalar(NodeContext& c) {
  c.SetOutput(0, kFunction(c.Input(0)));
}

}  // namespace ember::onnx

#endif  // EMBER_FRONTENDS_ONNX_NODE_OPERATOR_ROW_H_
