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

// Returns how many of the stage's loops, from the outermost on, should be fused
// to tasks: serial loops over points, at most `most`, before the first loop in
// which another stage is computed. No more are taken than give each thread
// enough tasks, because indices of fused loops are computed by divisions.
size_t LoopsOfTasks(const jit::CpuModel& cpu, const ScheduleWriter& writer,
                    int stage, size_t most);

// Splits the stage's last loop over points into chunks of many vectors, if
// tasks would otherwise be single vectors: there are too few rows to make each
// a task, and each vector would need a division to find its row. Returns the
// split axis, or nothing if nothing was changed. Must run before ScheduleLanes.
std::optional<SplitAxis> SplitForTasks(const jit::CpuModel& cpu,
                                       const StageRef& stage,
                                       ScheduleWriter& writer);

// Makes the stage's loops over points parallel tasks, if the stage is enough
// work and its points store to different elements.
void ScheduleTasks(const jit::CpuModel& cpu, const StageRef& stage,
                   ScheduleWriter& writer);

// True if a stage with this number of points is so much work that it is worth
// dividing it among threads.
bool IsWorthThreads(int64_t points);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_CPU_TASKS_RULE_H_
