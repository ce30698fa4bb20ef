// Tests if all workgroups of a persistent kernel have about the same amount of
// work. Each of n workgroups takes every n-th task. If their shares differ, an
// ordinary kernel, for which the device gives each task to a free processor,
// finishes earlier. If they are equal, an ordinary kernel may finish far later.
// With two pieces of each range of a sum (jit/schedule/gpu/sum_parts.h), n
// ranges on n workgroups:
//
//   task        0  1  2  3 |  4  5  6  7
//   iterations  4  3  2  1 |  0  1  2  3      4 for each of four workgroups
//
//   if (HaveEqualShares(pool, count, task, 4)) …   // they are
//
// Thread-safe.
#ifndef EMBER_JIT_GPU_TASK_SHARES_H_
#define EMBER_JIT_GPU_TASK_SHARES_H_

#include <cstdint>

#include "jit/loops/loop_nest.h"

namespace ember::jit::gpu {

// True if the workgroups have about the same number of iterations in all of
// their tasks. `iterations`: the expression of the number of iterations of a
// task's loop. It may contain the task's number (`task`, a loop variable) and
// constants. A workgroup may exceed the average by one iteration for each of
// its tasks. False also if the shares are not known: the expression loads
// something or has a parameter, or the number of tasks is not constant or above
// 16384.
bool HaveEqualShares(const tensor::ExpressionPool& pool,
                     loops::NodeId iterations, loops::NodeId task,
                     int64_t workgroups);

}  // namespace ember::jit::gpu

#endif  // EMBER_JIT_GPU_TASK_SHARES_H_
