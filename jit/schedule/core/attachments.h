// Decides where a stage may be computed inside a loop of another one
// (compute_at), and which axes of the two stages are equal.
//
//   IsComputedOnce(schedule, producer, consumer, loop)   // no point twice
//   CheckAttachment(schedule, producer, consumer, loop)  // may it begin there?
//   CheckAttachments(schedule)                           // do all still hold?
//
// Stages and loops are the schedule's numbers. Thread-safe.
#ifndef EMBER_JIT_SCHEDULE_CORE_ATTACHMENTS_H_
#define EMBER_JIT_SCHEDULE_CORE_ATTACHMENTS_H_

#include <vector>

#include "base/status.h"
#include "jit/schedule/core/schedule.h"

namespace ember::schedule {

// True if each iteration of the consumer's loops, from the outermost to `loop`,
// needs different elements of the producer, so that none is computed twice
// inside the loop, and no element of a result is left out.
bool IsComputedOnce(const Schedule& schedule, int producer, int consumer,
                    int loop);

// Expects a stage whose results only `reader` and stages before it read.
// Returns, per axis of the stage, the axis of the reader that it equals
// wherever the results are read for the reader, or -1. Example: %y[i, j] =
// %x[j, i] + %bias[j], where %x is stored as %x[i0, i1], gives 1, 0.
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
