// Products of dequantized floats of 8 bits: scales go behind the product, so
// that its factors are what machines multiply.
//
//   contract(multiply(cast(%x), %s), cast(%w))
//     →  multiply(contract(cast(%x), cast(%w)), %s)
//
// in contract and conv of f32 whose two factors are cast from f8e4m3fn or
// f8e5m2, each perhaps scaled by one element, or, in a contraction, along a dim
// that is the result's and not the other factor's. Transposes and reshapes
// between are looked through where the scale is one element. Changes rounding
// as fold-scales does: a scale is multiplied once instead of once for each
// factor. What a sum of unscaled factors is may be larger than the scaled one:
// of f8e5m2 up to 3.3e9 for each product, of f8e4m3fn 2e5, which f32 holds.
#ifndef EMBER_COMPILER_PASSES_HOIST_SCALES_H_
#define EMBER_COMPILER_PASSES_HOIST_SCALES_H_

#include "base/status.h"
#include "compiler/graph/graph.h"

namespace ember::compiler {

Status HoistScales(graph::Graph& graph);

}  // namespace ember::compiler

#endif  // EMBER_COMPILER_PASSES_HOIST_SCALES_H_
