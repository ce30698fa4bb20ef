// Dims of constants that are indexed by two digits become two dims, before a
// computation is scheduled:
//
//   %y[g, o] = sum(c < 34) %x[g, c] * %w[c, g * 34 + o]   // %w: f32[34, 136]
//   %y[g, o] = sum(c < 34) %x[g, c] * %w[c, g, o]         // %w: f32[34, 4, 34]
//
// Weights of grouped convolutions are so. Memory is as it was, but packing can
// take the last dim apart by vectors, which end with each group.
//
//   Computation c = Disassemble(dispatch, parameters);
//   c.buffers[1].is_constant = true;
//   SplitDims(c);
//
// Thread-safe.
#ifndef EMBER_JIT_SCHEDULE_SPLIT_DIMS_H_
#define EMBER_JIT_SCHEDULE_SPLIT_DIMS_H_

#include "jit/schedule/computation.h"

namespace ember::schedule {

// Where every index of the dim is x * F + y with the same F and y in 0..F-1.
void SplitDims(Computation& computation);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_SPLIT_DIMS_H_
