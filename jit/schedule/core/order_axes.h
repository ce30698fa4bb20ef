// Orders the axes of a stage by the temporaries that it reads, before a
// computation is scheduled. Only stages whose results no other stage reads are
// changed:
//
//   %p[b, h, i, k] = ...                                   // rows (b, h, i)
//   %y[b, i, h, d] = sum(k < 64) %p[b, h, i, k] * %v[b, h, k, d]
//
// The second stage is written with the axes b, i, h, d, and has b, h, i, d
// afterwards. Rows are then counted by the same axes, at the same positions, in
// both stages. So schedules can compute the stages together, in tiles with
// several rows along the last of these axes
// (jit/schedule/rules/stage_groups.h). The values and the places where they are
// stored do not change.
//
//   Computation c = Disassemble(dispatch, parameters);
//   OrderAxes(c);
//
// Thread-safe.
#ifndef EMBER_JIT_SCHEDULE_CORE_ORDER_AXES_H_
#define EMBER_JIT_SCHEDULE_CORE_ORDER_AXES_H_

#include "jit/schedule/core/computation.h"

namespace ember::schedule {

// Reorders only the axes before the last axis that has several points, because
// lanes run along that last axis.
void OrderAxes(Computation& computation);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_CORE_ORDER_AXES_H_
