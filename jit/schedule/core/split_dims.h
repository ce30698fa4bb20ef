// Splits dims that are indexed by two digits into two dims, before a
// computation is scheduled:
//
//   %y[g * 34 + o] = sum(c < 8) %x[g * 8 + c] * %w[c, g * 34 + o]
//   %z[i] = %y[i] + %b[i]         // i < 136, %x: f32[32], %w: f32[8, 136]
//
//   %y[g, o] = sum(c < 8) %x[g, c] * %w[c, g, o]
//   %z[i, j] = %y[i, j] + %b[i, j]   // i < 4, j < 34; %x: f32[4, 8], ...
//
// Grouped convolutions have this form. The layout of memory does not change.
// But packing can treat each of the dims separately, vectors end with each
// group, and later stages have the product's axes: they can be computed on its
// tiles.
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

// Splits dims of the computation in two steps. First splits dims of constants,
// if every index of the dim is x * F + y with the same F and y in 0..F-1. Then
// splits the dims that a sum of products with such a constant reads and stores
// by its group (x, an axis). Every index of such a dim must be a sum of this
// form, or an axis that runs over the whole dim. Such an axis becomes two,
// x_high and x_low, together with all dims that it indexes in its stage. A dim
// is split in all stages or in none: in none if some stage runs over the two
// digits in another order than memory does. Leaves buffers whose indices come
// from data as they are, so that a failed check names the dispatch's dim.
void SplitDims(Computation& computation);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_CORE_SPLIT_DIMS_H_
