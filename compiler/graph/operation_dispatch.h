// One operation as a dispatch of its own: its definition with the operands as
// input buffers and the results as outputs.
//
//   EMBER_ASSIGN_OR_RETURN(tensor::Dispatch dispatch, DispatchOf(*operation));
//   // @add<N>(%a: f32[N, 4], %b: f32[4]) -> (%y: f32[N, 4])
//
// This is what constant folding runs and what tests of definitions evaluate.
// Fused groups are built by compiler/lowering/group_builder.h, over the same
// definitions.
#ifndef EMBER_COMPILER_GRAPH_OPERATION_DISPATCH_H_
#define EMBER_COMPILER_GRAPH_OPERATION_DISPATCH_H_

#include "base/status.h"
#include "compiler/graph/graph.h"
#include "tensor/builder.h"
#include "tensor/dispatch.h"

namespace ember::graph {

// Inputs are "x0", "x1", …, one per operand in order (also where a value is an
// operand twice), outputs "y0", …; the symbols of their dims and of attributes
// are the parameters, in order of appearance. Error for an operator without
// definition (constant).
StatusOr<tensor::Dispatch> DispatchOf(const Operation& operation);

// A dim as a scalar of the dispatch's header; its symbols become parameters.
tensor::Scalar ExtentScalar(tensor::DispatchBuilder& builder, const Dim& dim);

}  // namespace ember::graph

#endif  // EMBER_COMPILER_GRAPH_OPERATION_DISPATCH_H_
