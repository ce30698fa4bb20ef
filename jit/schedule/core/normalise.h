// What every executor does to a computation before it is scheduled, so that
// schedules find one form of what may be written in several.
//
//   Computation c = Disassemble(dispatch, parameters);
//   MakeConstant(c.buffers[1], data);
//   Normalise(c);
//
// Thread-safe.
#ifndef EMBER_JIT_SCHEDULE_CORE_NORMALISE_H_
#define EMBER_JIT_SCHEDULE_CORE_NORMALISE_H_

#include "jit/schedule/core/computation.h"

namespace ember::schedule {

// As Disassemble made it, with its constants known. Leaves out axes that change
// nothing (invariant_axes.h), orders the others (order_axes.h), joins those
// that are used together (collapse_axes.h), and splits dims of groups
// (split_dims.h).
void Normalise(Computation& computation);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_CORE_NORMALISE_H_
