// Schedules sums of products on GPUs, whole or in parts (split-K).
//
//   %s[i, j] = sum(k < 8192) f32(%a[i, k]) * f32(%w[k, j])     64 x 512 results
//   %y[i, j] = f16(max(%s[i, j] + %bias[j], 0.0))
//
// has so few results that tiles of them keep few processors busy. So parts of
// the sum are an axis of tasks, in tiles like any product's (matrix_rule.h,
// tiles.h). A second phase adds them up, in the order of the sum, and
// finishes the results, several neighbours at once:
//
//   %s.parts[p, i, j] = sum(k < 512) ...                       p < 16
//   %y[i, j] = f16(max(sum(p < 16) %s.parts[p, i, j] + %bias[j], 0.0))
//
// The number of equal parts divides the axis, so parts and tiles seldom make as
// many tasks as there are workgroups at once. With matrices, workgroups may
// have ranges of the slices of all tiles instead (stream-K, the primitive
// `stream`), all of equal length: a range has the end of a tile and the begin
// of the next, and stores both pieces. One workgroup computes them, in two
// tasks of a persistent kernel, or one after the other in one task:
//
//   %s.parts[piece, range, i, j]     piece < 2, range < 132, i < 128, j < 256
//   %y[i, j] = f16(max(sum(k_part < 3) %s.parts[..., ..., ..., ...] + ..., 0.0))
//
// If there are somewhat more tiles of matrices than fill whole waves, the
// results may be cut in two: tiles that fill whole waves have whole sums, and
// the rest is in equal parts or in ranges, so that all processors get some.
// Their phase does not depend on the first one and runs at the same time:
//
//   %y[i, j]             i < 1408                  132 tiles on 132 processors
//   %y.rest.s.parts[...]                           then parts as small tiles
//   %y.rest: %y[i + 1408, j]                       adds them up
//
// The number of parts, their kind, their axis and their tiles are those that
// cost least in the model of costs.h. It counts the tiles of the processor
// that has most, and the memory traffic of parts. The order of additions is the
// same in every run.
//
// Internal to the default schedule.
#ifndef EMBER_JIT_SCHEDULE_GPU_SUM_PARTS_H_
#define EMBER_JIT_SCHEDULE_GPU_SUM_PARTS_H_

#include <set>

#include "jit/schedule/core/schedule.h"
#include "jit/schedule/core/steps.h"
#include "jit/target/gpu_model.h"

namespace ember::schedule {

// Schedules the product and the root, with the stages that are computed for its
// points. The product is `root`, or `root` reads its results point by point.
// Returns false, without a change, if no rule applies. done: gets the stages
// that were scheduled.
bool ScheduleSumOnGpu(const jit::GpuModel& gpu, const StageRef& root,
                      const StageRef& product, std::set<StageRef>& done,
                      Schedule& schedule);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_GPU_SUM_PARTS_H_
