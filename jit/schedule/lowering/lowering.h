// From a schedule to its loop nest: the one lowering, for all dispatches and
// all back ends.
//
//   EMBER_ASSIGN_OR_RETURN(loops::LoopNest nest, Lower(schedule));
//
// A stage that is computed by itself becomes a phase, whose tasks are its
// parallel loop; one that is computed at a loop stands at the start of that
// loop's body and covers what the loop's body reads. A stage that combines
// elements keeps the results in progress in a buffer of its own, as many as the
// loops inside its outermost reduction loop have points: initial values, then
// the loops, then the stores. Sums of floats of any length keep the bound of
// tensor/sum_error.h, whatever the schedule is (carried_sums.h). Splits that do
// not divide are guarded by Ifs, or, in loops over points whose results are not
// stored, by reading an element that exists instead. Accesses whose indices
// come from data are preceded by Checks. A bound loop becomes an invocation
// loop; what a stage inside it or its results in progress need of memory, each
// invocation has of its own. Of a bound loop that combines elements each
// invocation combines a part, and a combining loop (jit/loops/combining.h)
// behind it all parts. What is double buffered is computed one iteration ahead
// (load_ahead.h).
//
// Thread-safe.
#ifndef EMBER_JIT_SCHEDULE_LOWERING_LOWERING_H_
#define EMBER_JIT_SCHEDULE_LOWERING_LOWERING_H_

#include "base/status.h"
#include "jit/loops/loop_nest.h"
#include "jit/schedule/core/schedule.h"

namespace ember::schedule {

// kFailedPrecondition where the loops that primitives asked for cannot be made:
// a vector loop whose extent is not constant, for example.
StatusOr<loops::LoopNest> Lower(const Schedule& schedule);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_LOWERING_LOWERING_H_
