// Decides where a stage may be computed inside a loop of another one
// (compute_at), and which axes of the two stages are equal.
//
//   IsComputedOnce(schedule, producer, consumer, loop)   // each point once?
//   CheckAttachment(schedule, producer, consumer, loop)  // is attaching legal?
//   CheckAttachments(schedule)                           // are all still legal?
//
// Stages and loops are the schedule's numbers. Thread-safe.
#ifndef EMBER_JIT_SCHEDULE_CORE_ATTACHMENTS_H_
#define EMBER_JIT_SCHEDULE_CORE_ATTACHMENTS_H_

#include <vector>

#include "base/status.h"
#include "jit/schedule/core/schedule.h"

namespace ember::schedule {

// True if each iteration of the consumer's loops, from the outermost to `loop`,
// needs different elements of the producer, so that none is computed twice.
// False also if the producer stores a result of which elements could be left
// out, because a loop may have no iteration.
bool IsComputedOnce(const Schedule& schedule, int producer, int consumer,
                    int loop);

// Expects a stage whose results only `reader` and stages before `reader` read.
// Returns, for each axis of the stage, the axis of the reader that is equal to
// it wherever the reader, or a stage between the two, reads the results; -1 if
// there is none. Example: %y[i, j] = %x[j, i] + %bias[j], where %x is stored as
// %x[i0, i1], gives 1, 0.
std::vector<int> AxesOfReader(const Schedule& schedule, int producer,
                              int reader);

// Checks if the producer may be computed in the consumer's loop. Errors:
// kFailedPrecondition with the reason.
Status CheckAttachment(const Schedule& schedule, int producer, int consumer,
                       int loop);

// Checks all stages inside loops of others: nothing that they read changes
// before they are computed, and those that must run once (MustRunOnce) compute
// no element in two iterations.
Status CheckAttachments(const Schedule& schedule);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_CORE_ATTACHMENTS_H_
