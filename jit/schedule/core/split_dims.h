// Dims that are indexed by two digits become two dims, before a computation is
// scheduled:
//
//   %y[g * 34 + o] = sum(c < 8) %x[g * 8 + c] * %w[c, g * 34 + o]
//   %z[i] = %y[i] + %b[i]         // i < 136, %x: f32[32], %w: f32[8, 136]
//
//   %y[g, o] = sum(c < 8) %x[g, c] * %w[c, g, o]
//   %z[i, j] = %y[i, j] + %b[i, j]   // i < 4, j < 34; %x: f32[4, 8], ...
//
// Grouped convolutions are so. Memory is as it was, but packing can take each
// of the dims, vectors end with each group, and the stages behind have the
// product's axes: they can be computed on its tiles.
//
//   Computation c = Disassemble(dispatch, parameters);
//   c.buffers[1].is_constant = true;
//   SplitDims(c);
//
// Thread-safe.
#ifndef EMBER_JIT_SCHEDULE_CORE_SPLIT_DIMS_H_
#define EMBER_JIT_SCHEDULE_CORE_SPLIT_DIMS_H_

#include "jit/schedule/core/computation.h"

namespace ember::schedule {

// Dims of constants, where every index of the dim is x * F + y with the same F
// and y in 0..F-1. Then what a sum of products by such a constant reads and
// stores by its group (x, an axis): dims where every index is such a sum, or an
// axis that runs over the whole dim and becomes two, x_high and x_low, with all
// that it indexes in its stage. All of a dim's stages or none: none where one
// moves over the digits in another order. Buffers whose indices come from data
// are left alone, so that a failed check names the dispatch's dim.
void SplitDims(Computation& computation);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_CORE_SPLIT_DIMS_H_
