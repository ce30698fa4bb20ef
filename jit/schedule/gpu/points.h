// Schedules points of stages as tasks and invocations. A part of the default
// schedule for GPUs.
#ifndef EMBER_JIT_SCHEDULE_GPU_POINTS_H_
#define EMBER_JIT_SCHEDULE_GPU_POINTS_H_

#include <cstdint>
#include <optional>
#include <set>

#include "jit/schedule/core/steps.h"
#include "jit/schedule/rules/schedule_writer.h"
#include "jit/target/gpu_model.h"

namespace ember::schedule {

// Computes stages that the root reads point by point inside the loop over the
// root's points: the stages from number `first` on, except those in `done`,
// products, and stages that are too much work for an invocation. Returns the
// stages that it has attached, and adds them to `done`.
std::set<StageRef> JoinPoints(const jit::GpuModel& gpu, const StageRef& root,
                              const LoopRef& loop, int first,
                              std::set<StageRef>& done, ScheduleWriter& writer);

// Computes neighbours along the last axis of a stage's points at once, in each
// iteration of the stage's reductions. False if it is refused.
bool VectorizeLast(const StageRef& stage, ScheduleWriter& writer);

// Schedules the points of a stage as tasks and invocations. Each invocation has
// `lanes` neighbours along the last axis as a vector. Returns the loop in which
// one vector is computed; nullopt if the points may not run at once, or if
// there is only one. lanes: divides the extent of the last axis.
std::optional<LoopRef> SchedulePoints(const jit::GpuModel& gpu,
                                      const StageRef& stage, int64_t lanes,
                                      ScheduleWriter& writer);

// Fuses all loops over the points of a stage that is computed inside a task,
// and divides the points among `count` invocations, each of which has `lanes`
// neighbours at once. Returns the loop over an invocation's points; nullopt if
// the stage has one point.
std::optional<LoopRef> BindTogether(const StageRef& stage, int64_t count,
                                    int64_t lanes, ScheduleWriter& writer);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_GPU_POINTS_H_
