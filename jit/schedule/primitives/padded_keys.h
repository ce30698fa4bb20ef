// Rows of a softmax made longer, so that blocks divide them: of K elements some
// whole blocks.
//
//   %most[i]    = maximum(k < 1024) select(k < 1000, x(i, k), -inf)
//   %power[i,k] = exp(select(k < 1000, x(i, k), -inf) - %most[i])
//   %y[i, j]    = sum(k < 1024) %p[i, k] * pad(%v[k, j], 0.0)
//
// Elements beyond the end are -inf whatever x is there: they are no maximum,
// their powers are 0, and as v is 0 there, too, they add 0 to totals and sums.
// Stages before, which x reads at k, are as long; what else is read at k is 0
// beyond its end (pad).
//
// Internal to the primitive online_softmax.
#ifndef EMBER_JIT_SCHEDULE_PRIMITIVES_PADDED_KEYS_H_
#define EMBER_JIT_SCHEDULE_PRIMITIVES_PADDED_KEYS_H_

#include <cstdint>

#include "base/status.h"
#include "jit/schedule/core/schedule.h"
#include "jit/schedule/primitives/online_softmax.h"

namespace ember::schedule {

// length: of the rows, more than softmax.length, which it becomes. Refused, and
// nothing has changed, where a stage before is read elsewhere, too, where its
// loops have been changed, or where indices are checked while the program runs,
// as elements that are not there have none.
Status PadKeys(Schedule& schedule, SoftmaxOfProduct& softmax, int64_t length);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_PRIMITIVES_PADDED_KEYS_H_
