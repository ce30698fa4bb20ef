// Lowers a schedule to its loop nest, by the passes of LoweringPasses()
// (jit/pipeline/nest_passes.h). All dispatches and all back ends use this one
// lowering.
//
//   EMBER_ASSIGN_OR_RETURN(loops::LoopNest nest, Lower(schedule));
//
// jit/schedule/lowering/lowering.h says what the nest is like. Thread-safe.
#ifndef EMBER_JIT_PIPELINE_LOWER_H_
#define EMBER_JIT_PIPELINE_LOWER_H_

#include "base/status.h"
#include "jit/loops/loop_nest.h"
#include "jit/schedule/core/schedule.h"

namespace ember::schedule {

// Returns the loop nest of the schedule. The nest is not verified. Errors:
// kFailedPrecondition if the loops that primitives asked for cannot be made,
// for example a vector loop whose extent is not constant.
StatusOr<loops::LoopNest> Lower(const Schedule& schedule);

}  // namespace ember::schedule

#endif  // EMBER_JIT_PIPELINE_LOWER_H_
