// Makes a dispatch of a single operation: its definition with the operands as
// input buffers and the results as outputs.
//
//   EMBER_ASSIGN_OR_RETURN(tensor::Dispatch dispatch, DispatchOf(*operation));
//   // @add<N>(%a: f32[N, 4], %b: f32[4]) -> (%y: f32[N, 4])
//
// Constant folding runs it, and tests of definitions evaluate it. Fused groups
// are built by compiler/lowering/group_builder.h, over the same definitions.
#ifndef EMBER_COMPILER_GRAPH_OPERATORS_OPERATION_DISPATCH_H_
#define EMBER_COMPILER_GRAPH_OPERATORS_OPERATION_DISPATCH_H_

#include "base/status.h"
#include "compiler/graph/graph.h"
#include "tensor/builder/builder.h"
#include "tensor/dispatch.h"

namespace ember::graph {

// Makes the dispatch. Inputs are "x0", "x1", …, one per operand in order (also
// if a value is an operand twice), outputs "y0", …. The symbols of their dims
// and of attributes are the parameters, in order of appearance. An operator
// without a definition (constant) is an error.
StatusOr<tensor::Dispatch> DispatchOf(const Operation& operation);

// Returns a dim as a scalar of the dispatch's header; its symbols become
// parameters.
tensor::Scalar ExtentScalar(tensor::DispatchBuilder& builder, const Dim& dim);

}  // namespace ember::graph

#endif  // EMBER_COMPILER_GRAPH_OPERATORS_OPERATION_DISPATCH_H_
