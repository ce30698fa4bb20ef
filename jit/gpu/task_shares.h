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

// turns: the number of turns of a task's loop, an expression of the task's
// number (`task`, a loop variable) and constants. False, too, where that cannot
// be told: where the expression loads something or has a parameter, and where
// the number of tasks is open. A workgroup may have more turns than the average
// by one for each of its tasks.
bool HaveEqualShares(const tensor::ExpressionPool& pool, loops::NodeId turns,
                     loops::NodeId task, int64_t workgroups);

}  // namespace ember::jit::gpu

#endif  // EMBER_JIT_GPU_TASK_SHARES_H_
