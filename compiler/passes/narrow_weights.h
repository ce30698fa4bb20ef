// Weights of products are stored as narrow floats where those hold them.
//
//   %w: f32[512, 512] = constant()          every element a bf16, or an f16
//   %y = conv(%x, %w)
// becomes
//   %n: bf16[512, 512] = constant()
//   %w: f32[512, 512] = cast(%n)            lowering reads through it
//   %y = conv(%x, %w)
//
// Models in f16 and bf16 have such weights: contractions widen their operands,
// and folding constants has done that. So have models that only store weights
// narrow. Where all other factors are floats of 8 bits, weights become such,
// too: machines multiply the two as they are. A module is half as large, and a
// product by a vector, whose time is that of reading weights, takes half of it.
// Results are the same bit for bit.
#ifndef EMBER_COMPILER_PASSES_NARROW_WEIGHTS_H_
#define EMBER_COMPILER_PASSES_NARROW_WEIGHTS_H_

#include "base/status.h"
#include "compiler/graph/graph.h"

namespace ember::compiler {

// Constants of 256 bytes and more that contractions alone use; bf16 where both
// types hold all elements: it is widened by a shift. Signs of zeros and
// payloads of NaNs count. To be run behind the last folding of constants, which
// would undo it.
Status NarrowWeights(graph::Graph& graph);

}  // namespace ember::compiler

#endif  // EMBER_COMPILER_PASSES_NARROW_WEIGHTS_H_
