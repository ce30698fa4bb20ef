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

// Attaches stages to the loop over the root's points, if the root reads them
// point by point: the stages from number `first` on, except those in `done`,
// products, and stages that are too much work for one invocation. Returns the
// attached stages, and adds them to `done`.
std::set<StageRef> JoinPoints(const jit::GpuModel& gpu, const StageRef& root,
                              const LoopRef& loop, int first,
                              std::set<StageRef>& done, ScheduleWriter& writer);

// Vectorizes the loop over the last axis of a stage's points, inside the loops
// of the stage's reductions. Returns false if the stage has no such axis, or if
// a primitive is refused.
bool VectorizeLast(const StageRef& stage, ScheduleWriter& writer);

// Divides the points of a stage among tasks and invocations. An invocation
// computes vectors of `lanes` neighbours along the last axis, whose extent
// `lanes` divides. Returns the loop in whose body one vector is computed;
// nullopt if the points may not be computed in parallel, or if there is only
// one.
std::optional<LoopRef> SchedulePoints(const jit::GpuModel& gpu,
                                      const StageRef& stage, int64_t lanes,
                                      ScheduleWriter& writer);

// Fuses all loops over the points of a stage that is computed inside a task,
// and divides the points among `count` invocations, each of which computes
// `lanes` neighbours at once. Returns the loop over the points of one
// invocation; nullopt if the stage has only one point.
std::optional<LoopRef> BindTogether(const StageRef& stage, int64_t count,
                                    int64_t lanes, ScheduleWriter& writer);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_GPU_POINTS_H_
