// Chooses the loops that become tasks for threads. A part of the default
// schedule for CPUs.
#ifndef EMBER_JIT_SCHEDULE_CPU_TASKS_RULE_H_
#define EMBER_JIT_SCHEDULE_CPU_TASKS_RULE_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "jit/schedule/core/steps.h"
#include "jit/schedule/cpu/lanes_rule.h"
#include "jit/schedule/rules/schedule_writer.h"
#include "jit/target/cpu_model.h"

namespace ember::schedule {

// Returns how many of the stage's loops, from the first on, are to become
// tasks. These are serial loops over points, at most `most`, and no more than
// give each worker enough tasks, because indices of fused loops are divisions.
size_t LoopsOfTasks(const jit::CpuModel& cpu, const ScheduleWriter& writer,
                    int stage, size_t most);

// Splits the stage's last loop over points into chunks of many vectors, if
// tasks would otherwise be single vectors: the rows before it are too few to be
// tasks, and the index of a vector would be divided to find its row. Returns
// the split axis, or nothing without a change. Comes before ScheduleLanes.
std::optional<SplitAxis> SplitForTasks(const jit::CpuModel& cpu,
                                       const StageRef& stage,
                                       ScheduleWriter& writer);

// Makes the stage's loops over points tasks, if that pays.
void ScheduleTasks(const jit::CpuModel& cpu, const StageRef& stage,
                   ScheduleWriter& writer);

// True if a stage with this number of points is so much work that it is worth
// dividing it among threads.
bool IsWorthThreads(int64_t points);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_CPU_TASKS_RULE_H_
