// The axes of a stage whose results nothing in the dispatch reads come in the
// order in which they index what the stages before it made, before a
// computation is scheduled:
//
//   %p[b, h, i, k] = ...                                   // rows (b, h, i)
//   %y[b, i, h, d] = sum(k < 64) %p[b, h, i, k] * %v[b, h, k, d]
//
// has the axes b, i, h, d, as it is written, and b, h, i, d behind this: rows
// are then the same axes, in the same places, in all of these stages, and
// schedules take the last of them for those that a tile has several of
// (jit/schedule/rules/stage_groups.h). What is computed and where it is stored
// does not change.
//
//   Computation c = Disassemble(dispatch, parameters);
//   OrderAxes(c);
//
// Thread-safe.
#ifndef EMBER_JIT_SCHEDULE_CORE_ORDER_AXES_H_
#define EMBER_JIT_SCHEDULE_CORE_ORDER_AXES_H_

#include "jit/schedule/core/computation.h"

namespace ember::schedule {

// Only axes in front of the last one with several points change places: lanes
// run along that.
void OrderAxes(Computation& computation);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_CORE_ORDER_AXES_H_
