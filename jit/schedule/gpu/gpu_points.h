// Points of stages as tasks and invocations. A part of the default schedule for
// GPUs.
#ifndef EMBER_JIT_SCHEDULE_GPU_GPU_POINTS_H_
#define EMBER_JIT_SCHEDULE_GPU_GPU_POINTS_H_

#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "jit/schedule/rules/schedule_writer.h"
#include "jit/target/gpu_model.h"

namespace ember::schedule {

// Computes the stages from number `first` on that the root reads point by point
// in the loop of a point, but for those in `done`, products, and what is too
// much for an invocation. Gives the names of those that it has put there, which
// are added to `done`.
std::set<std::string> JoinPoints(const jit::GpuModel& gpu,
                                 const std::string& root,
                                 const std::string& loop, int first,
                                 std::set<std::string>& done,
                                 ScheduleWriter& writer);

// Computes neighbours along the last axis of a stage's points at once, in each
// turn of what the stage combines. False where that cannot be.
bool VectorizeLast(const std::string& stage, ScheduleWriter& writer);

// The points of a stage as tasks and invocations, each of which has `lanes`
// neighbours along the last axis as a vector. Gives the loop in which one is
// computed; nothing if the points may not run at once or there is but one.
// lanes: divide the axis.
std::optional<std::string> SchedulePoints(const jit::GpuModel& gpu,
                                          const std::string& stage,
                                          int64_t lanes,
                                          ScheduleWriter& writer);

// All loops over the points of a stage that is computed inside a task, by
// `count` invocations, each of which has `lanes` neighbours at once. Gives the
// loop over what each of them has; empty if the stage has one point.
std::string BindTogether(const std::string& stage, int64_t count, int64_t lanes,
                         ScheduleWriter& writer);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_GPU_GPU_POINTS_H_
