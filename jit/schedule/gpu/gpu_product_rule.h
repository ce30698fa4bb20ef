// Tiles for sums of products on GPUs. A part of the default schedule for GPUs.
#ifndef EMBER_JIT_SCHEDULE_GPU_GPU_PRODUCT_RULE_H_
#define EMBER_JIT_SCHEDULE_GPU_GPU_PRODUCT_RULE_H_

#include <optional>
#include <set>
#include <string>

#include "jit/schedule/gpu/gpu_costs.h"
#include "jit/schedule/rules/schedule_writer.h"
#include "jit/target/gpu_model.h"

namespace ember::schedule {

// What the product's tiles cost, by the model of gpu_costs.h; nothing where no
// tile fits.
std::optional<ProductCost> CostOfProductOnGpu(const jit::GpuModel& gpu,
                                              const std::string& product,
                                              const std::set<std::string>& done,
                                              const Schedule& schedule);

// Tiles for the product, which is `root` or computed point by point for it, by
// way of the stages between them. Gives the innermost loop of the root, in
// which a point of it is computed; nothing if the rule does not apply, whatever
// was written then. done: gets the stages that were scheduled.
std::optional<std::string> ScheduleProductOnGpu(const jit::GpuModel& gpu,
                                                const std::string& root,
                                                const std::string& product,
                                                std::set<std::string>& done,
                                                ScheduleWriter& writer);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_GPU_GPU_PRODUCT_RULE_H_
