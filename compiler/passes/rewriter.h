// Makes operations that replace another one.
//
//   Rewriter rewriter(graph);
//   rewriter.StartAt(product);  // contract(%a, %b)
//   EMBER_ASSIGN_OR_RETURN(Value * wide, rewriter.Cast(a, DType::kI32));
//   EMBER_ASSIGN_OR_RETURN(Value * sum, rewriter.MakeLike(*product, {wide, b}));
//   rewriter.Replace(product, sum);  // contract(cast(%a), %b)
//
// The graph must outlive the rewriter; other code may change the graph
// meanwhile. Errors are those of Graph::Add: operands or attributes that do not
// fit the operator.
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

  // Makes the following operations right before the given one and with its
  // origin. Call it before the first operation is made, and again after the
  // given operation was erased.
  void StartAt(const graph::Operation* operation) { before_ = operation; }

  // Makes an operation that has one result, and returns this result.
  StatusOr<graph::Value*> Make(std::string_view operator_name,
                               std::vector<graph::Value*> operands,
                               graph::Attributes attributes = {});
  // Makes an operation with the operator, the origin and the attributes of
  // `operation` (or with other attributes) and with new operands.
  StatusOr<graph::Value*> MakeLike(const graph::Operation& operation,
                                   std::vector<graph::Value*> operands);
  StatusOr<graph::Value*> MakeLike(const graph::Operation& operation,
                                   std::vector<graph::Value*> operands,
                                   graph::Attributes attributes);

  StatusOr<graph::Value*> Constant(graph::TensorType type,
                                   graph::ConstantData data);
  StatusOr<graph::Value*> Cast(graph::Value* value, DType type);
  StatusOr<graph::Value*> Reshape(graph::Value* value, graph::Shape shape);
  // Makes a transpose and returns its result. Returns the value itself if the
  // permutation moves nothing.
  StatusOr<graph::Value*> Transpose(graph::Value* value,
                                    const Permutation& permutation);

  // Replaces every use of the operation's only result by `by` and erases the
  // operation. If `by` has no name, it gets the result's name.
  void Replace(graph::Operation* operation, graph::Value* by);

 private:
  graph::Graph& graph_;
  const graph::Operation* before_ = nullptr;
};

// Returns a copy of an operation's operands, which the caller changes and
// passes to Rewriter::MakeLike.
std::vector<graph::Value*> OperandsOf(const graph::Operation& operation);

}  // namespace ember::compiler

#endif  // EMBER_COMPILER_PASSES_REWRITER_H_
