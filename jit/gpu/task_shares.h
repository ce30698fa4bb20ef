// Tests if the workgroups of a persistent kernel, which take tasks in a fixed
// order, each every n-th one, all have about as much to do. If not, a device
// that distributes the tasks, one to each workgroup, finishes earlier. If they
// do, it may finish far later. With two pieces of each range of a sum
// (jit/schedule/gpu/sum_parts.h), n ranges on n workgroups:
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
// something or has a parameter, or the number of tasks is not constant.
bool HaveEqualShares(const tensor::ExpressionPool& pool,
                     loops::NodeId iterations, loops::NodeId task,
                     int64_t workgroups);

}  // namespace ember::jit::gpu

#endif  // EMBER_JIT_GPU_TASK_SHARES_H_
