// Removes axes along which all values of a temporary are equal, before a
// computation is scheduled:
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

// Changes only reductions whose result one stage stores completely and whose
// readers are known to stay inside its extents. If the result is one of the
// dispatch, the reduction stores to a temporary (%y.same for %y), which another
// stage copies to %y. Stages that are no reductions cost little and are
// computed near their readers, so they stay as they are.
void DropInvariantAxes(Computation& computation);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_CORE_INVARIANT_AXES_H_
