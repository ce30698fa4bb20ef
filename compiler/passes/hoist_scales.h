// Moves the scales of dequantized 8-bit floats behind the product, so that
// machines multiply the factors directly.
//
//   contract(multiply(cast(%x), %s), cast(%w))
//     →  multiply(contract(cast(%x), cast(%w)), %s)
//
// It applies to contract and conv of f32 whose two factors are cast from
// f8e4m3fn or f8e5m2. Each factor may be scaled by one element, or, in a
// contraction, along a dim that the result has and the other factor has not. If
// the scale is one element, transposes and reshapes may be in between. Rounding
// changes as in fold-scales: a scale is multiplied once instead of once for
// each factor. A sum of unscaled factors may be larger than the scaled one: up
// to 3.3e9 for each product of f8e5m2, 2e5 of f8e4m3fn, which f32 holds.
#ifndef EMBER_COMPILER_PASSES_HOIST_SCALES_H_
#define EMBER_COMPILER_PASSES_HOIST_SCALES_H_

#include "base/status.h"
#include "compiler/graph/graph.h"

namespace ember::compiler {

Status HoistScales(graph::Graph& graph);

}  // namespace ember::compiler

#endif  // EMBER_COMPILER_PASSES_HOIST_SCALES_H_
