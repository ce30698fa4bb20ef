// Pads rows of tiles, as the primitive pad_rows asks. Internal to lowering.
#ifndef EMBER_JIT_SCHEDULE_LOWERING_PAD_ROWS_H_
#define EMBER_JIT_SCHEDULE_LOWERING_PAD_ROWS_H_

#include "jit/loops/loop_nest.h"
#include "jit/schedule/core/schedule.h"

namespace ember::schedule {

// Adds the padding of each stage to the last extent of its task buffer. The
// nest must be that of the schedule; its first buffers are the computation's.
// Only the distance between rows changes: no index depends on the padding.
void PadRows(const Schedule& schedule, loops::LoopNest& nest);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_LOWERING_PAD_ROWS_H_
