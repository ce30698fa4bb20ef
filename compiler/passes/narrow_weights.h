// Stores weights of products as narrow floats if those hold them exactly.
//
//   %w: f32[512, 512] = constant()          every element a bf16, or an f16
//   %y = conv(%x, %w)
// becomes
//   %n: bf16[512, 512] = constant()
//   %w: f32[512, 512] = cast(%n)            lowering reads through it
//   %y = conv(%x, %w)
//
// Models in f16 and bf16 have such weights: contractions widen their operands,
// and constant folding has done that. So have models that only store weights
// narrow. If all other factors are 8-bit floats, weights become 8-bit floats
// too: machines multiply the two directly. The module is half as large, and a
// product by a vector, whose time is that of reading weights, takes half the
// time. Results are the same bit for bit.
#ifndef EMBER_COMPILER_PASSES_NARROW_WEIGHTS_H_
#define EMBER_COMPILER_PASSES_NARROW_WEIGHTS_H_

#include "base/status.h"
#include "compiler/graph/graph.h"

namespace ember::compiler {

// Narrows f32 constants of 256 bytes and more that only contractions use. bf16
// is chosen if both types hold all elements, because a shift widens it. Signs
// of zeros and payloads of NaNs are kept. Runs after the last constant folding,
// which would undo the change.
Status NarrowWeights(graph::Graph& graph);

}  // namespace ember::compiler

#endif  // EMBER_COMPILER_PASSES_NARROW_WEIGHTS_H_
