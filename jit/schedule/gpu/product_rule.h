// Schedules tiles of sums of products on GPUs. A part of the default schedule
// for GPUs.
#ifndef EMBER_JIT_SCHEDULE_GPU_PRODUCT_RULE_H_
#define EMBER_JIT_SCHEDULE_GPU_PRODUCT_RULE_H_

#include <optional>
#include <set>

#include "jit/schedule/core/steps.h"
#include "jit/schedule/gpu/costs.h"
#include "jit/schedule/rules/schedule_writer.h"
#include "jit/target/gpu_model.h"

namespace ember::schedule {

// Returns the cost of the product's tiles in the model of costs.h; nullopt
// if no tile fits.
std::optional<ProductCost> CostOfProductOnGpu(const jit::GpuModel& gpu,
                                              const StageRef& product,
                                              const std::set<StageRef>& done,
                                              const Schedule& schedule);

// Schedules the product in tiles. It is the root, or the root reads its results
// point by point, maybe through other stages. Returns the innermost loop of the
// root, in whose body one point is computed; nullopt if the rule does not
// apply, in which case the schedule may have been changed. done: gets the
// stages that were scheduled.
std::optional<LoopRef> ScheduleProductOnGpu(const jit::GpuModel& gpu,
                                            const StageRef& root,
                                            const StageRef& product,
                                            std::set<StageRef>& done,
                                            ScheduleWriter& writer);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_GPU_PRODUCT_RULE_H_
