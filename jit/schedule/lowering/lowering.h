// Lowers the stages of a schedule to a loop nest, the first pass of lowering.
// The passes after it, each in a file of its own, are rows of
// jit/pipeline/nest_passes.cc; jit/pipeline/lower.h runs all of them.
//
//   EMBER_ASSIGN_OR_RETURN(StageNest lowered, LowerStages(schedule));
//
// A stage that is not attached becomes a phase, whose tasks are its parallel
// loop. A stage that is attached to a loop is computed at the start of that
// loop's body and covers the part that the body reads.
//
// A stage that combines elements keeps its results in progress in a buffer of
// its own, one per point of the loops inside its outermost reduction loop:
// initial values, then the loops, then the stores. Sums of floats of any length
// keep the bound of tensor/sum_error.h, whatever the schedule is
// (carried_sums.h).
//
// A split by a factor that may not divide the extent is guarded by an If. A
// loop over points whose results are not stored has no guard: it reads an
// element that exists instead. Accesses whose indices come from data are
// preceded by Checks.
//
// A bound loop becomes an invocation loop. Each invocation has its own memory
// for stages inside the loop and for their results in progress. If a bound loop
// combines elements, each invocation combines a part, and then a combining loop
// (jit/loops/analysis/combining.h) combines the parts. Double-buffered stages
// are computed one iteration ahead (load_ahead.h).
//
// Thread-safe.
#ifndef EMBER_JIT_SCHEDULE_LOWERING_LOWERING_H_
#define EMBER_JIT_SCHEDULE_LOWERING_LOWERING_H_

#include <cstdint>
#include <vector>

#include "base/status.h"
#include "jit/loops/loop_nest.h"
#include "jit/schedule/core/schedule.h"

namespace ember::schedule {

struct StageNest {
  loops::LoopNest nest;
  // true if the nest has loops over invocations or subgroups
  bool has_invocations = false;
  // numbers of the buffers that hold the totals of long sums (carried_sums.h)
  std::vector<uint32_t> totals;
};

// Returns the loop nest of the schedule, to which no other pass of lowering has
// been applied. Errors: kFailedPrecondition if the schedule asks for loops that
// cannot be made, for example a vector loop whose extent is not constant.
StatusOr<StageNest> LowerStages(const Schedule& schedule);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_LOWERING_LOWERING_H_
