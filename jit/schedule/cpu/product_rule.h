// Schedules sums of products on register tiles: their loops, the operands that
// are packed, and the stages that are computed inside. A part of the default
// schedule for CPUs.
#ifndef EMBER_JIT_SCHEDULE_CPU_PRODUCT_RULE_H_
#define EMBER_JIT_SCHEDULE_CPU_PRODUCT_RULE_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "jit/schedule/core/steps.h"
#include "jit/schedule/rules/root_axes.h"
#include "jit/schedule/rules/schedule_writer.h"
#include "jit/schedule/rules/stage_groups.h"
#include "jit/schedule/rules/stage_shape.h"
#include "jit/target/cpu_model.h"

namespace ember::schedule {

// Smallest number of rows that a group with a product must have to run row by
// row: the product's register tile needs several rows.
inline constexpr int64_t kRowsOfProduct = 8;

// Schedules a sum of products and the elementwise stages after it on a tile of
// results in registers. Returns false if the rule does not apply.
bool ScheduleProduct(const jit::CpuModel& cpu, const StageGroup& group,
                     const StageRef& product, ScheduleWriter& writer);
// Returns the number of rows that the register tile of a product inside a group
// has along the axis common.rows; 1 if the tile has no rows.
int64_t RowsOfProductInside(const jit::CpuModel& cpu, const StageShape& product,
                            const CommonAxes& common);
// Schedules the loops of a product that is computed inside a group's loop over
// blocks of rows. `fixed`: the product's loops over the axes that the group has
// in common, except `rows`. `rows`: the loop over the rows of a block, nullopt
// if there is none. Returns false, without a change, if no register tile fits,
// or if the tile's rows run along another axis than common.rows.
bool ScheduleProductInside(const jit::CpuModel& cpu, const StageRef& product,
                           const CommonAxes& common,
                           const std::vector<LoopRef>& fixed,
                           const std::optional<LoopRef>& rows,
                           ScheduleWriter& writer);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_CPU_PRODUCT_RULE_H_
