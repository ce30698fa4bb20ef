// Axes that change nothing of what a temporary holds are left out of it, before
// a computation is scheduled:
//
//   %t[i, j] = sum(k < 512) %x[i, k] * 0.5      // %t: f32[8, 64]
//   %y[i, j] = %t[i, j] * %w[j]
//
//   %t[i, j] = sum(k < 512) %x[i, k] * 0.5      // j < 1, %t: f32[8, 1]
//   %y[i, j] = %t[i, 0] * %w[j]
//
// A stage then computes each value once.
//
//   Computation c = Disassemble(dispatch, parameters);
//   DropInvariantAxes(c);
//
// Thread-safe.
#ifndef EMBER_JIT_SCHEDULE_CORE_INVARIANT_AXES_H_
#define EMBER_JIT_SCHEDULE_CORE_INVARIANT_AXES_H_

#include "jit/schedule/core/computation.h"

namespace ember::schedule {

// Of what reductions give that one stage stores whole, and whose readers are
// known to stay inside; a result of the dispatch is then copied from a
// temporary, %y.same for %y. What is no reduction costs little, and is computed
// near what reads it.
void DropInvariantAxes(Computation& computation);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_CORE_INVARIANT_AXES_H_
