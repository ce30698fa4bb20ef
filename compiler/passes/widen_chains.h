// Computes chains of f16 and bf16 in f32, and rounds at their end.
//
//   %p: f16[4, 8] = multiply(%x, %x)
//   %w: f32[4, 8] = cast(%p) {dtype = f32}
//   %s: f32[4] = reduce(%w) {combiner = "sum", axes = [1]}
//   %m: f16[4] = cast(%s) {dtype = f16}
//   %y: f16[4] = sqrt(%m)
//     →
//   %v: f32[4, 8] = cast(%x) {dtype = f32}
//   %p: f32[4, 8] = multiply(%v, %v)
//   %s: f32[4] = reduce(%p) {combiner = "sum", axes = [1]}
//   %r: f32[4] = sqrt(%s)
//   %y: f16[4] = cast(%r) {dtype = f16}
//
// A value of f16 or bf16 stays in f32 if an elementwise operation or a
// reduction computes it and its only reader is an elementwise operation or a
// reduction, also through reshapes, broadcasts and transposes. All other values
// are rounded to their type: results of the graph, values with several readers,
// and operands of contractions and of all other operations. Two kinds of
// readers get a rounded value as well: those whose result may jump when their
// operand hardly changes (rounding functions, comparisons, casts to integers
// and to floats of 8 bits), and casts of values that have just been cast, which
// is how a model asks for a rounding.
//
// So the model alone decides which values are rounded, not other passes, nor
// which operations become one dispatch. docs/arithmetic.md has the rule for
// users.
#ifndef EMBER_COMPILER_PASSES_WIDEN_CHAINS_H_
#define EMBER_COMPILER_PASSES_WIDEN_CHAINS_H_

#include "base/status.h"
#include "compiler/graph/graph.h"

namespace ember::compiler {

Status WidenChains(graph::Graph& graph);

}  // namespace ember::compiler

#endif  // EMBER_COMPILER_PASSES_WIDEN_CHAINS_H_
