// Stages that are computed inside loops of others (compute_at): where that is
// allowed, and which axes of the two are the same.
//
//   IsComputedOnce(schedule, producer, consumer, loop)   // no point twice
//   CheckAttachment(schedule, producer, consumer, loop)  // may it begin there?
//   CheckAttachments(schedule)                           // do all still hold?
//
// Stages and loops are numbers of the schedule's. Thread-safe.
#ifndef EMBER_JIT_SCHEDULE_CORE_ATTACHMENTS_H_
#define EMBER_JIT_SCHEDULE_CORE_ATTACHMENTS_H_

#include <vector>

#include "base/status.h"
#include "jit/schedule/core/schedule.h"

namespace ember::schedule {

// Whether each iteration of the consumer's loops, from the outermost to `loop`,
// would need elements of its own from the producer, so that none is computed
// twice inside the loop, and none of a result is left out.
bool IsComputedOnce(const Schedule& schedule, int producer, int consumer,
                    int loop);

// Per axis of a stage whose results only `reader` and stages before it read:
// the axis of the reader that it is equal to, at every place where they are
// read for it; -1: none. Of %y[i, j] = %x[j, i] + %bias[j], where %x is stored
// as %x[i0, i1]: 1, 0.
std::vector<int> AxesOfReader(const Schedule& schedule, int producer,
                              int reader);

// Whether the producer may be computed in the consumer's loop.
// kFailedPrecondition with the reason.
Status CheckAttachment(const Schedule& schedule, int producer, int consumer,
                       int loop);

// Of all stages inside others' loops: nothing that they read changes before the
// place where they are computed now, and those that must run once (MustRunOnce)
// compute no element in two iterations.
Status CheckAttachments(const Schedule& schedule);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_CORE_ATTACHMENTS_H_
