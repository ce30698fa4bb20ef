// The parts of the default schedule of GPUs. Internal to it.
#ifndef EMBER_JIT_SCHEDULE_GPU_RULES_H_
#define EMBER_JIT_SCHEDULE_GPU_RULES_H_

#include <optional>
#include <set>
#include <string>

#include "jit/schedule/model_rules.h"
#include "jit/target/gpu_model.h"

namespace ember::schedule {

// Tiles for the product, which is `root` or computed point by point for it, by
// way of the stages between them. Gives the innermost loop of the root, in
// which a point of it is computed; nothing if the rule does not apply, whatever
// was written then. done: gets the stages that were scheduled.
std::optional<std::string> ScheduleProductOnGpu(const jit::GpuModel& gpu,
                                                const std::string& root,
                                                const std::string& product,
                                                std::set<std::string>& done,
                                                ScheduleWriter& writer);

// A group of stages that runs row by row, with reductions along the rows, of
// which `root` is the last. False if the rule does not apply; nothing is
// changed then. done: gets the other stages of the group.
bool ScheduleRowsOnGpu(const jit::GpuModel& gpu, const std::string& root,
                       std::set<std::string>& done, ScheduleWriter& writer);

// Splits a reduction to too few results to keep the device busy, or too long
// for one invocation, in two (rfactor): a stage `parts` is new. False if that
// does not pay.
bool SplitReductionOnGpu(const jit::GpuModel& gpu, const std::string& stage,
                         const std::string& parts, ScheduleWriter& writer);

// Computes the stages from number `first` on that the root reads point by point
// in the loop of a point, but for those in `done`, products, and what is too
// much for an invocation.
void JoinPoints(const jit::GpuModel& gpu, const std::string& root,
                const std::string& loop, int first, std::set<std::string>& done,
                ScheduleWriter& writer);

// The points of a stage as tasks and invocations, each of which has `lanes`
// neighbours along the last axis as a vector. Gives the loop in which one is
// computed; nothing if the points may not run at once or there is but one.
// lanes: divide the axis.
std::optional<std::string> SchedulePoints(const jit::GpuModel& gpu,
                                          const std::string& stage,
                                          int64_t lanes,
                                          ScheduleWriter& writer);

// How many neighbours along the last axis an invocation is to have: more than 1
// where all of what the stage loads and stores along it are aligned vectors
// then, and enough invocations are left to keep the device busy.
int64_t LanesOfPoints(const jit::GpuModel& gpu, const Computation& computation,
                      int stage);

// All loops over the points of a stage that is computed inside a task, by
// `count` invocations, each of which has `lanes` neighbours at once. Gives the
// loop over what each of them has; empty if the stage has one point.
std::string BindTogether(const std::string& stage, int64_t count, int64_t lanes,
                         ScheduleWriter& writer);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_GPU_RULES_H_
