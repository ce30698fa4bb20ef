// The table of ONNX operators: for each its name, its first opset, its number
// of operands, and the function that decomposes a node into the graph's
// operators. To add an operator, add a row in its family's file, the function,
// and a test (docs/adding/onnx-operator.md).
#ifndef EMBER_FRONTENDS_ONNX_OPERATOR_TABLE_H_
#define EMBER_FRONTENDS_ONNX_OPERATOR_TABLE_H_

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>

#include "frontends/onnx/node_context.h"

namespace ember::onnx {

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

// Returns null if there is no such operator at this opset. "ai.onnx" is the
// default domain "".
const OperatorRow* FindOperator(std::string_view domain, std::string_view name,
                                int opset);

// Returns all rows, family by family.
std::span<const OperatorRow> OperatorTable();

// Imports a function of each element, such as those of ops/functions.h.
template <Tensor (*kFunction)(Tensor)>
void ImportScalar(NodeContext& c) {
  c.SetOutput(0, kFunction(c.Input(0)));
}

// The families. Each is defined in the file of its name.
std::span<const OperatorRow> ActivationOperators();
std::span<const OperatorRow> AttentionOperators();
std::span<const OperatorRow> ContractionOperators();
std::span<const OperatorRow> ContribActivationOperators();
std::span<const OperatorRow> ContribAttentionOperators();
std::span<const OperatorRow> ContribContractionOperators();
std::span<const OperatorRow> ContribGroupAttentionOperators();
std::span<const OperatorRow> ContribMovementOperators();
std::span<const OperatorRow> ContribNormalizationOperators();
std::span<const OperatorRow> ContribQuantizationOperators();
std::span<const OperatorRow> ContribQuantizedWeightsOperators();
std::span<const OperatorRow> ControlFlowOperators();
std::span<const OperatorRow> ConvolutionOperators();
std::span<const OperatorRow> DeformConvOperators();
std::span<const OperatorRow> DeterminantOperators();
std::span<const OperatorRow> ElementwiseOperators();
std::span<const OperatorRow> FlexAttentionOperators();
std::span<const OperatorRow> IndexingOperators();
std::span<const OperatorRow> LinearAttentionOperators();
std::span<const OperatorRow> LossOperators();
std::span<const OperatorRow> MlEncoderOperators();
std::span<const OperatorRow> MlFeatureOperators();
std::span<const OperatorRow> MlLinearOperators();
std::span<const OperatorRow> MlMapOperators();
std::span<const OperatorRow> MlSvmOperators();
std::span<const OperatorRow> MlTreeOperators();
std::span<const OperatorRow> MovementOperators();
std::span<const OperatorRow> NormalizationOperators();
std::span<const OperatorRow> PoolingOperators();
std::span<const OperatorRow> QuantizationOperators();
std::span<const OperatorRow> RandomOperators();
std::span<const OperatorRow> RecurrentOperators();
std::span<const OperatorRow> ReductionOperators();
std::span<const OperatorRow> ResizeOperators();
std::span<const OperatorRow> RetiredOperators();
std::span<const OperatorRow> RoiAlignOperators();
std::span<const OperatorRow> RoiPoolingOperators();
std::span<const OperatorRow> SamplingOperators();
std::span<const OperatorRow> SelectionOperators();
std::span<const OperatorRow> SequenceOperators();
std::span<const OperatorRow> ShapeOperators();
std::span<const OperatorRow> SignalOperators();
std::span<const OperatorRow> SlicingOperators();
std::span<const OperatorRow> StringOperators();
std::span<const OperatorRow> TextFeatureOperators();
std::span<const OperatorRow> TrainingOperators();

}  // namespace ember::onnx

#endif  // EMBER_FRONTENDS_ONNX_OPERATOR_TABLE_H_
