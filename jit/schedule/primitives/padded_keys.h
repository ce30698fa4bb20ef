// Pads the rows of a softmax so that blocks divide them: from K elements to a
// whole number of blocks.
//
//   %most[i]    = maximum(k < 1024) select(k < 1000, x(i, k), -inf)
//   %power[i,k] = exp(select(k < 1000, x(i, k), -inf) - %most[i])
//   %y[i, j]    = sum(k < 1024) %p[i, k] * pad(%v[k, j], 0.0)
//
// Elements beyond the end are -inf whatever x is there: they are no maximum,
// and their powers are 0. v is 0 there, too, so they add 0 to totals and sums.
// Earlier stages whose results x reads at key k get rows of the same length.
// Other buffers that are read at k are padded with 0 beyond their end.
//
// Internal to the primitive online_softmax.
#ifndef EMBER_JIT_SCHEDULE_PRIMITIVES_PADDED_KEYS_H_
#define EMBER_JIT_SCHEDULE_PRIMITIVES_PADDED_KEYS_H_

#include <cstdint>

#include "base/status.h"
#include "jit/schedule/core/schedule.h"
#include "jit/schedule/primitives/online_softmax.h"

namespace ember::schedule {

// Makes the rows `length` elements long, more than softmax.length, and updates
// softmax.length. Returns an error, without a change, if an earlier stage that
// would have to become longer has other readers, if its loops have been
// changed, or if its indices are checked at run time: the added elements must
// not fail a check.
Status PadKeys(Schedule& schedule, SoftmaxOfProduct& softmax, int64_t length);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_PRIMITIVES_PADDED_KEYS_H_
