// Normalises a computation before it is scheduled, so that schedules find one
// form of computations that can be written in several ways. The JIT and the
// tools that schedule dispatches do so; tier 0 does not.
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

// Removes axes along which all values are equal (invariant_axes.h), orders the
// others (order_axes.h), collapses those that are only used together
// (collapse_axes.h), and splits dims of groups (split_dims.h). `computation` is
// the result of Disassemble, with its constants known.
void Normalise(Computation& computation);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_CORE_NORMALISE_H_
