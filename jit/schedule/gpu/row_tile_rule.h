// Flash attention on GPUs with matrices of subgroups: computes products and the
// stages between them in one phase, so that scores and weights of attention
// never leave a workgroup.
//
//   %score[b, i, j]  = sum(d) f32(%q[b, i, d]) * f32(%k[b, j, d])
//   %top[b, i]       = maximum(j) %score[b, i, j]
//   %power[b, i, j]  = exp(%score[b, i, j] - %top[b, i])
//   %total[b, i]     = sum(j) %power[b, i, j]
//   %weight[b, i, j] = f16(%power[b, i, j] / %total[b, i])
//   %sum[b, i, d]    = sum(j) f32(%weight[b, i, j]) * f32(%v[b, j, d])
//   %y[b, i, d]      = f16(%sum[b, i, d])                  root: %y
//
// A workgroup has a tile of rows i of one b: whole rows of every stage, in its
// memory. Slices of operands are copied, as by matrix_rule.h; a factor that
// an earlier stage has computed (%weight) is read where it is.
//
// In the other stages each invocation has a part of a row, and so it has in the
// row's reductions. The part's elements stay in its registers from the first
// read of %score to the store of %weight (row_runs.h). If parts are few,
// each reader combines their results (%top, %total) itself. If rows have no
// such parts, invocations take elements in rounds, four neighbours at once.
//
// If %top, %power, %total and %weight are a softmax whose rows %sum combines,
// the workgroup may also process the rows in blocks of keys j
// (jit/schedule/primitives/online_softmax.h). Then only a block of each row is
// in its memory, and the running sums are in registers. Blocks that a causal
// mask hides from all rows of the tile are skipped. Slices may then be whole
// sums: that of %q is copied once for the tile, those of %k and %v for a block
// while the previous one is computed. Blocks need not divide the keys. Products
// use instructions of warpgroups if the device has them and both products have
// panels for them (jit/target/shared_panels.h).
//
// If tiles of rows are too few for the device, a workgroup has a part of the
// keys, and a second phase combines the results of the parts.
//
// Tiles of 16 to 128 rows, whole or in blocks, are compared by a model of how
// many tiles a processor computes, and how many of them at once. The cheapest
// is chosen.
//
// Internal to the default schedule.
#ifndef EMBER_JIT_SCHEDULE_GPU_ROW_TILE_RULE_H_
#define EMBER_JIT_SCHEDULE_GPU_ROW_TILE_RULE_H_

#include <set>

#include "jit/schedule/core/steps.h"
#include "jit/schedule/rules/schedule_writer.h"
#include "jit/target/gpu_model.h"

namespace ember::schedule {

// Schedules `root` in tiles of rows, with all stages before it that only stages
// of this group read; all of them are added to `done`. `root` is `product`, or
// reads its results point by point. Returns false, without a change, if the
// device has no matrices or too small workgroups, if points of the root may
// store to one element, if the stages contain no other product, if no tile
// fits, or if some primitive is refused.
bool ScheduleRowTilesOnGpu(const jit::GpuModel& gpu, const StageRef& root,
                           const StageRef& product, std::set<StageRef>& done,
                           ScheduleWriter& writer);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_GPU_ROW_TILE_RULE_H_
