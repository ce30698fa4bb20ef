// Makes the operations that take another one's place.
//
//   Rewriter rewriter(graph);
//   rewriter.StartAt(product);  // contract(%a, %b)
//   EMBER_ASSIGN_OR_RETURN(Value * wide, rewriter.Cast(a, DType::kI32));
//   EMBER_ASSIGN_OR_RETURN(Value * sum, rewriter.MakeLike(*product, {wide, b}));
//   rewriter.Replace(product, sum);  // contract(cast(%a), %b)
//
// The graph outlives the rewriter and may be changed beside it. Errors are
// those of Graph::Add: operands or attributes that do not fit the operator.
#ifndef EMBER_COMPILER_PASSES_REWRITER_H_
#define EMBER_COMPILER_PASSES_REWRITER_H_

#include <string_view>
#include <vector>

#include "base/status.h"
#include "compiler/graph/graph.h"
#include "compiler/passes/permutation.h"

namespace ember::compiler {

class Rewriter {
 public:
  explicit Rewriter(graph::Graph& graph) : graph_(graph) {}

  // What is made from now on stands right before the operation and has its
  // origin. To be called before anything is made, and again after the operation
  // has been erased.
  void StartAt(const graph::Operation* operation) { before_ = operation; }

  // The result of a new operation with one result.
  StatusOr<graph::Value*> Make(std::string_view operator_name,
                               std::vector<graph::Value*> operands,
                               graph::Attributes attributes = {});
  // By the operator of `operation`, with its attributes (or others) and its
  // origin.
  StatusOr<graph::Value*> MakeLike(const graph::Operation& operation,
                                   std::vector<graph::Value*> operands);
  StatusOr<graph::Value*> MakeLike(const graph::Operation& operation,
                                   std::vector<graph::Value*> operands,
                                   graph::Attributes attributes);

  StatusOr<graph::Value*> Constant(graph::TensorType type,
                                   graph::ConstantData data);
  StatusOr<graph::Value*> Cast(graph::Value* value, DType type);
  StatusOr<graph::Value*> Reshape(graph::Value* value, graph::Shape shape);
  // The value itself where the permutation moves nothing.
  StatusOr<graph::Value*> Transpose(graph::Value* value,
                                    const Permutation& permutation);

  // Every use of the operation's only result becomes one of `by`, which takes
  // over its name unless it has one; the operation is erased.
  void Replace(graph::Operation* operation, graph::Value* by);

 private:
  graph::Graph& graph_;
  const graph::Operation* before_ = nullptr;
};

// The operands of an operation, to be changed and handed to Rewriter::MakeLike.
std::vector<graph::Value*> OperandsOf(const graph::Operation& operation);

}  // namespace ember::compiler

#endif  // EMBER_COMPILER_PASSES_REWRITER_H_
