#include "compiler/passes/fold_scales.h"

#include <string>

#include "compiler/graph/operators/contract_spec.h"
#include "compiler/passes/constant_value.h"
#include "compiler/passes/queries.h"
#include "compiler/passes/rewriter.h"

namespace ember::compiler {
namespace {

using graph::ContractSpec;
using graph::Dim;
using graph::Graph;
using graph::Operation;
using graph::Shape;
using graph::Value;

// True for a float constant that varies at most along the result's last dim: a
// vector or a scalar.
bool IsChannelConstant(const Value* value, const Shape& result) {
  if (ConstantOf(value) == nullptr || !IsFloat(value->dtype())) return false;
  const Shape& shape = value->shape();
  if (shape.size() > result.size()) return false;
  for (size_t i = 0; i + 1 < shape.size(); ++i) {
    if (shape[i] != Dim(1)) return false;
  }
  return shape.empty() || shape.back() == Dim(1) ||
         shape.back() == result.back();
}

// Returns the number of the weights' dim that becomes the last dim of the
// result (the output channels). Returns -1 if there is none, or if the first
// operand has the same label, because then the scale cannot be multiplied into
// the weights alone.
int ChannelDimOfWeights(const Operation& operation) {
  const Value* weights = operation.operand(1);
  if (operation.name() == "conv") return weights->rank() - 1;
  const ContractSpec spec = SpecOf(operation);
  if (spec.result.empty()) return -1;
  const char label = spec.result.back();
  if (spec.a.find(label) != std::string::npos) return -1;
  const size_t position = spec.b.find(label);
  return position == std::string::npos ? -1 : static_cast<int>(position);
}

bool IsFoldableContraction(const Value* value) {
  const Operation* producer = value->producer();
  return producer != nullptr &&
         (producer->name() == "conv" || producer->name() == "contract") &&
         IsUsedOnce(value) && IsFloat(value->dtype()) && value->rank() > 0 &&
         ConstantOf(producer->operand(1)) != nullptr &&
         !IsWidenedFloat8(producer->operand(0)) &&
         ChannelDimOfWeights(*producer) >= 0;
}

class Folder {
 public:
  explicit Folder(Graph& graph) : rewriter_(graph) {}

  Status Fold(Operation* multiply) {
    rewriter_.StartAt(multiply);
    const int constant_index =
        ConstantOf(multiply->operand(0)) != nullptr ? 0 : 1;
    Value* scale = multiply->operand(constant_index);
    Value* scaled = multiply->operand(1 - constant_index);
    const Shape& shape = multiply->result()->shape();
    if (!IsChannelConstant(scale, shape) || scaled->shape() != shape)
      return OkStatus();
    if (IsFoldableContraction(scaled)) {
      EMBER_ASSIGN_OR_RETURN(Value * folded,
                             ScaledContraction(*scaled->producer(), scale));
      rewriter_.Replace(multiply, folded);
      return OkStatus();
    }
    return FoldThroughAdd(multiply, scaled, scale);
  }

 private:
  // Rewrites (conv + b) * s as conv * s + b * s.
  Status FoldThroughAdd(Operation* multiply, Value* sum, Value* scale) {
    const Operation* add = sum->producer();
    if (add == nullptr || add->name() != "add" || !IsUsedOnce(sum))
      return OkStatus();
    for (int i = 0; i < 2; ++i) {
      Value* convolution = add->operand(i);
      Value* bias = add->operand(1 - i);
      if (!IsFoldableContraction(convolution) ||
          convolution->shape() != sum->shape() ||
          !IsChannelConstant(bias, sum->shape())) {
        continue;
      }
      EMBER_ASSIGN_OR_RETURN(
          Value * scaled, ScaledContraction(*convolution->producer(), scale));
      EMBER_ASSIGN_OR_RETURN(Value * scaled_bias,
                             rewriter_.Make("multiply", {bias, scale}));
      EMBER_ASSIGN_OR_RETURN(Value * result,
                             rewriter_.Make("add", {scaled, scaled_bias}));
      rewriter_.Replace(multiply, result);
      return OkStatus();
    }
    return OkStatus();
  }

  StatusOr<Value*> ScaledContraction(const Operation& contraction,
                                     Value* scale) {
    Value* weights = contraction.operand(1);
    const int channel = ChannelDimOfWeights(contraction);
    // The scale is reshaped to lie along the channel dim of the weights: [1, …,
    // O, …, 1].
    Shape shape(weights->rank(), Dim(1));
    shape[channel] = scale->rank() == 0 ? Dim(1) : scale->shape().back();
    EMBER_ASSIGN_OR_RETURN(Value * shaped, rewriter_.Reshape(scale, shape));
    EMBER_ASSIGN_OR_RETURN(Value * scaled,
                           rewriter_.Make("multiply", {weights, shaped}));
    return rewriter_.MakeLike(contraction, {contraction.operand(0), scaled});
  }

  Rewriter rewriter_;
};

}  // namespace

Status FoldScales(Graph& graph) {
  for (Operation* operation : graph.Operations()) {
    if (operation->name() != "multiply") continue;
    EMBER_RETURN_IF_ERROR(Folder(graph).Fold(operation));
  }
  return OkStatus();
}

}  // namespace ember::compiler
