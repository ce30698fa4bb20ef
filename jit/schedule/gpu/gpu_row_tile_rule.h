// Products with what stands between them, on GPUs with matrices of subgroups,
// in one phase: attention, whose scores and weights never leave a workgroup.
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
// memory. Of operands slices are copied, as by gpu_matrix_rule.h; a factor that
// a stage before has made (%weight) is read where it is. Of the other stages
// each invocation has a part of a row, as of the row's reductions, whose
// elements stay in its registers from the first read of %score to the store of
// %weight (gpu_row_runs.h); what the parts gave (%top, %total) each reader
// combines itself where they are few. Where rows have no such parts,
// invocations take elements in turns, four neighbours at once.
//
// Where %top, %power, %total and %weight are a softmax whose rows %sum
// combines, the workgroup may also go over the rows in blocks of keys j
// (jit/schedule/primitives/online_softmax.h): then only a block of each row is
// in its memory, and the running sums are in registers; blocks that a causal
// mask hides from all rows of the tile are skipped. Slices may be whole then:
// that of %q is copied once for the tile, those of %k and %v for a block while
// the one before is computed. Blocks need not divide the keys. Where warpgroups
// multiply together and both products have panels for it
// (jit/gpu/shared_panels.h), they do.
//
// Where tiles of rows are too few for the device, a workgroup has a part of the
// keys, and a second phase combines what the parts gave.
//
// Among tiles of 16 to 128 rows, whole or in blocks, the one is taken that
// costs least by a model of how many tiles a processor computes, and how many
// of them at once.
//
// Internal to the default schedule.
#ifndef EMBER_JIT_SCHEDULE_GPU_GPU_ROW_TILE_RULE_H_
#define EMBER_JIT_SCHEDULE_GPU_GPU_ROW_TILE_RULE_H_

#include <set>
#include <string>

#include "jit/schedule/rules/schedule_writer.h"
#include "jit/target/gpu_model.h"

namespace ember::schedule {

// Schedules `root`, which is `product` or reads its results point by point,
// with all stages before it that nothing else reads, and adds these to `done`.
// False if there is no other product among them, no tile fits, or something is
// refused; the schedule is as before then.
bool ScheduleRowTilesOnGpu(const jit::GpuModel& gpu, const std::string& root,
                           const std::string& product,
                           std::set<std::string>& done, ScheduleWriter& writer);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_GPU_GPU_ROW_TILE_RULE_H_
