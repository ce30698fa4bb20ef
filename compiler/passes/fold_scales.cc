#include "compiler/passes/fold_scales.h"

#include "compiler/graph/operators.h"
#include "compiler/passes/constant_value.h"

namespace ember::compiler {
namespace {

using graph::Dim;
using graph::Graph;
using graph::Operation;
using graph::OperatorNamed;
using graph::Shape;
using graph::Value;

bool OnlyUsedOnce(const Value* value) {
  return value->users().size() == 1 && !value->is_graph_output();
}

// A float constant that varies along the result's last dim at most; as a vector
// or scalar.
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

// The label of the weights' dim that is the last dim of a contraction's result,
// if only the second operand has it; -1 otherwise.
int ChannelDimOfWeights(const Operation& operation) {
  const Value* weights = operation.operand(1);
  if (operation.name() == "conv") return weights->rank() - 1;
  const auto& spec = operation.attributes().Get<std::string>("spec");
  const size_t comma = spec.find(','), arrow = spec.find("->");
  if (arrow + 2 >= spec.size()) return -1;
  const char label = spec.back();
  if (spec.substr(0, comma).find(label) != std::string::npos) return -1;
  const size_t position = spec.substr(comma + 1, arrow - comma - 1).find(label);
  return position == std::string::npos ? -1 : static_cast<int>(position);
}

bool IsFoldableContraction(const Value* value) {
  const Operation* producer = value->producer();
  return producer != nullptr &&
         (producer->name() == "conv" || producer->name() == "contract") &&
         OnlyUsedOnce(value) && IsFloat(value->dtype()) && value->rank() > 0 &&
         ConstantOf(producer->operand(1)) != nullptr &&
         ChannelDimOfWeights(*producer) >= 0;
}

class Folder {
 public:
  explicit Folder(Graph& graph) : graph_(graph) {}

  StatusOr<bool> Fold(Operation* multiply) {
    const int constant_index =
        ConstantOf(multiply->operand(0)) != nullptr ? 0 : 1;
    Value* scale = multiply->operand(constant_index);
    Value* scaled = multiply->operand(1 - constant_index);
    const Shape& shape = multiply->result()->shape();
    if (!IsChannelConstant(scale, shape) || scaled->shape() != shape)
      return false;
    if (IsFoldableContraction(scaled)) {
      EMBER_ASSIGN_OR_RETURN(
          Value * folded,
          ScaledContraction(*scaled->producer(), scale, multiply));
      Replace(multiply, folded);
      return true;
    }
    return FoldThroughAdd(multiply, scaled, scale);
  }

 private:
  // (conv + b) * s = conv * s + b * s.
  StatusOr<bool> FoldThroughAdd(Operation* multiply, Value* sum, Value* scale) {
    const Operation* add = sum->producer();
    if (add == nullptr || add->name() != "add" || !OnlyUsedOnce(sum))
      return false;
    for (int i = 0; i < 2; ++i) {
      Value* convolution = add->operand(i);
      Value* bias = add->operand(1 - i);
      if (!IsFoldableContraction(convolution) ||
          convolution->shape() != sum->shape() ||
          !IsChannelConstant(bias, sum->shape())) {
        continue;
      }
      EMBER_ASSIGN_OR_RETURN(
          Value * scaled,
          ScaledContraction(*convolution->producer(), scale, multiply));
      EMBER_ASSIGN_OR_RETURN(Value * scaled_bias,
                             Make("multiply", {bias, scale}, {}, multiply));
      EMBER_ASSIGN_OR_RETURN(Value * result,
                             Make("add", {scaled, scaled_bias}, {}, multiply));
      Replace(multiply, result);
      return true;
    }
    return false;
  }

  StatusOr<Value*> ScaledContraction(const Operation& contraction, Value* scale,
                                     const Operation* before) {
    Value* weights = contraction.operand(1);
    const int channel = ChannelDimOfWeights(contraction);
    // The scale along the weights' channel dim: [1, …, O, …, 1].
    Shape shape(weights->rank(), Dim(1));
    shape[channel] = scale->rank() == 0 ? Dim(1) : scale->shape().back();
    EMBER_ASSIGN_OR_RETURN(
        Value * shaped, Make("reshape", {scale}, {{"shape", shape}}, before));
    EMBER_ASSIGN_OR_RETURN(Value * scaled,
                           Make("multiply", {weights, shaped}, {}, before));
    return Make(contraction.name(), {contraction.operand(0), scaled},
                contraction.attributes(), before, contraction.origin());
  }

  StatusOr<Value*> Make(std::string_view name, std::vector<Value*> operands,
                        graph::Attributes attributes, const Operation* before,
                        std::string origin = "") {
    EMBER_ASSIGN_OR_RETURN(
        Operation * operation,
        graph_.Add(
            OperatorNamed(name), std::move(operands), std::move(attributes),
            origin.empty() ? before->origin() : std::move(origin), before));
    return operation->result();
  }

  void Replace(Operation* old, Value* value) {
    value->set_name(old->result()->name());
    graph_.ReplaceAllUses(old->result(), value);
    graph_.Erase(old);
  }

  Graph& graph_;
};

}  // namespace

Status FoldScales(Graph& graph) {
  for (Operation* operation : graph.Operations()) {
    if (operation->name() != "multiply") continue;
    EMBER_ASSIGN_OR_RETURN(bool folded, Folder(graph).Fold(operation));
    (void)folded;
  }
  return OkStatus();
}

}  // namespace ember::compiler
