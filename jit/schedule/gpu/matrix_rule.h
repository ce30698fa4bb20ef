// Schedules products of f16, bf16, f32 (tf32), i8 and u8 on GPUs as products of
// matrices of subgroups (multiply_matrices), if the device has matrices of
// these types.
//
//   %y[b, i, j] = sum(k) f32(%a[b, i, k]) * f32(%b[b, k, j])   rows i, columns j
//
// A workgroup has a tile of results: some subgroups along rows and columns,
// each with some matrices along both. A tile may also have several lines of one
// more axis that the rows' factor moves along (an image has lines of pixels),
// one line per subgroup. Slices of both factors are copied to memory of the
// workgroup, as in tiles.h: the next ones while these are used, if there is
// room; two or three slices ahead, if the device copies asynchronously. If
// matrices fill the results, and a result is only the sum, matrices are stored
// directly to the results; otherwise to memory of the workgroup, from which
// invocations finish them. A sum that whole matrices do not fill is extended by
// zeros (pad).
//
// Wide products are those whose instructions several subgroups execute together
// (warpgroups).
//
// Internal to the default schedule.
#ifndef EMBER_JIT_SCHEDULE_GPU_MATRIX_RULE_H_
#define EMBER_JIT_SCHEDULE_GPU_MATRIX_RULE_H_

#include <optional>
#include <set>

#include "jit/schedule/core/schedule.h"
#include "jit/schedule/core/steps.h"
#include "jit/schedule/gpu/costs.h"
#include "jit/schedule/rules/schedule_writer.h"
#include "jit/target/gpu_model.h"

namespace ember::schedule {

// Returns the cost of the tile that ScheduleMatricesOnGpu tries first, in the
// model of costs.h; nullopt if that function does not apply to the product.
std::optional<ProductCost> CostOfMatricesOnGpu(const jit::GpuModel& gpu,
                                               const StageRef& root,
                                               const StageRef& product,
                                               const std::set<StageRef>& done,
                                               const Schedule& schedule);

// Returns the cost of the best tile for dividing the product's sums into ranges
// (stream-K, the primitive stream); nullopt if no tile of matrices fits.
std::optional<ProductCost> TileOfRangesOnGpu(const jit::GpuModel& gpu,
                                             const StageRef& product,
                                             const Schedule& schedule);

// Schedules the product, whose results the root reads point by point if it is
// not the root itself. Returns, like ScheduleProductOnGpu, the innermost loop
// of the root, in whose body one point is computed; nullopt if the rule does
// not apply.
std::optional<LoopRef> ScheduleMatricesOnGpu(const jit::GpuModel& gpu,
                                             const StageRef& root,
                                             const StageRef& product,
                                             std::set<StageRef>& done,
                                             ScheduleWriter& writer);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_GPU_MATRIX_RULE_H_
