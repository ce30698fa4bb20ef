// Whether workgroups that go on to further tasks in a fixed order, each to
// every n-th one, all have about as much to do. Where they have not, a device
// that deals out the tasks, one to each workgroup, is done earlier; where they
// have, it may be done far later. Of the two pieces of each range of a sum
// (jit/schedule/gpu/gpu_sum_parts.h), n ranges on n workgroups:
//
//   task        0  1  2  3 |  4  5  6  7
//   turns       4  3  2  1 |  0  1  2  3      4 for each of four workgroups
//
//   if (HaveEqualShares(pool, turns, task, 4)) …   // they are
//
// Thread-safe.
#ifndef EMBER_JIT_GPU_TASK_SHARES_H_
#define EMBER_JIT_GPU_TASK_SHARES_H_

#include <cstdint>

#include "jit/loops/loop_nest.h"

namespace ember::jit::gpu {

// turns: how many a task has, made of its number `task` and constants; of other
// things, and of a number of tasks that is not known, it is not known either:
// false. A turn for each of a workgroup's tasks is what shares may differ by.
bool HaveEqualShares(const tensor::ExpressionPool& pool, loops::NodeId turns,
                     loops::NodeId task, int64_t workgroups);

}  // namespace ember::jit::gpu

#endif  // EMBER_JIT_GPU_TASK_SHARES_H_
