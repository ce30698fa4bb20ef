#include "compiler/passes/rewriter.h"

#include <utility>

#include "compiler/graph/operators.h"

namespace ember::compiler {

using graph::Attributes;
using graph::ConstantData;
using graph::Operation;
using graph::Shape;
using graph::TensorType;
using graph::Value;

StatusOr<Value*> Rewriter::Make(std::string_view operator_name,
                                std::vector<Value*> operands,
                                Attributes attributes) {
  EMBER_ASSIGN_OR_RETURN(
      Operation * operation,
      graph_.Add(graph::OperatorNamed(operator_name), std::move(operands),
                 std::move(attributes), before_->origin(), before_));
  return operation->result();
}

StatusOr<Value*> Rewriter::MakeLike(const Operation& operation,
                                    std::vector<Value*> operands) {
  return MakeLike(operation, std::move(operands), operation.attributes());
}

StatusOr<Value*> Rewriter::MakeLike(const Operation& operation,
                                    std::vector<Value*> operands,
                                    Attributes attributes) {
  EMBER_ASSIGN_OR_RETURN(
      Operation * made,
      graph_.Add(operation.record(), std::move(operands), std::move(attributes),
                 operation.origin(), before_));
  return made->result();
}

StatusOr<Value*> Rewriter::Constant(TensorType type, ConstantData data) {
  return Make("constant", {},
              {{"value", std::move(data)},
               {"dtype", type.dtype},
               {"shape", std::move(type.shape)}});
}

StatusOr<Value*> Rewriter::Cast(Value* value, DType type) {
  return Make("cast", {value}, {{"dtype", type}});
}

StatusOr<Value*> Rewriter::Reshape(Value* value, Shape shape) {
  return Make("reshape", {value}, {{"shape", std::move(shape)}});
}

StatusOr<Value*> Rewriter::Transpose(Value* value,
                                     const Permutation& permutation) {
  if (IsIdentity(permutation)) return value;
  return Make("transpose", {value}, {{"permutation", permutation}});
}

void Rewriter::Replace(Operation* operation, Value* by) {
  if (by->name().empty()) by->set_name(operation->result()->name());
  graph_.ReplaceAllUses(operation->result(), by);
  graph_.Erase(operation);
}

std::vector<Value*> OperandsOf(const Operation& operation) {
  return {operation.operands().begin(), operation.operands().end()};
}

}  // namespace ember::compiler
