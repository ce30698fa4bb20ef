// Folds batch norms: a per-output-channel scale after a convolution or
// contraction with constant weights becomes part of the weights.
//
//   multiply(conv(%x, %w), %s)           →  conv(%x, %w2)
//   multiply(add(conv(%x, %w), %b), %s)  →  add(conv(%x, %w2), multiply(%b, %s))
//   with %w2 = multiply(%w, %s), which fold-constants computes
//
// Only floats, and only if the scaled value has no other use. Products with
// 8-bit floats keep their weights, which have 8 bits too (hoist_scales.h).
// Changes rounding as the usual inference optimisation does (relative 1e-7 per
// multiplication in f32).
#ifndef EMBER_COMPILER_PASSES_FOLD_SCALES_H_
#define EMBER_COMPILER_PASSES_FOLD_SCALES_H_

#include "base/status.h"
#include "compiler/graph/graph.h"

namespace ember::compiler {

Status FoldScales(graph::Graph& graph);

}  // namespace ember::compiler

#endif  // EMBER_COMPILER_PASSES_FOLD_SCALES_H_
