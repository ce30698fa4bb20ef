// Sums of products on GPUs, whole or in parts ("split-k").
//
//   %s[i, j] = sum(k < 8192) f32(%a[i, k]) * f32(%w[k, j])     64 x 512 results
//   %y[i, j] = f16(max(%s[i, j] + %bias[j], 0.0))
//
// has so few results that tiles of them keep few processors busy. So parts of
// the sum are an axis of tasks, in tiles as any product's (gpu_matrix_rule.h,
// gpu_tiles.h), and a second phase adds them up, in the order of the sum, and
// finishes the results, neighbours at once:
//
//   %s.parts[p, i, j] = sum(k < 512) ...                       p < 16
//   %y[i, j] = f16(max(sum(p < 16) %s.parts[p, i, j] + %bias[j], 0.0))
//
// Parts of one length are as many as divide the axis, and with tiles seldom as
// many as there are workgroups at once. Of matrices these may have ranges of
// the slices of all tiles instead ("stream-k", the primitive `stream`), as long
// as each other: a range has the end of a tile and the begin of the next, and
// stores both pieces. They are the work of one workgroup, in two tasks of a
// persistent kernel, or one after the other in one task:
//
//   %s.parts[piece, range, i, j]     piece < 2, range < 132, i < 128, j < 256
//   %y[i, j] = f16(max(sum(k_part < 3) %s.parts[..., ..., ..., ...] + ..., 0.0))
//
// Where tiles of matrices are somewhat more than so many for each processor,
// the results may be cut in two: tiles that fill whole waves have whole sums,
// and the rest is in parts of one length or in ranges, of which all processors
// get some. Their phase needs nothing of the first one and runs beside it:
//
//   %y[i, j]             i < 1408                  132 tiles on 132 processors
//   %y.rest.s.parts[...]                           then parts as small tiles
//   %y.rest: %y[i + 1408, j]                       adds them up
//
// How many parts there are, of which kind and axis, and in which tiles they are
// computed, is what costs least by the model of gpu_costs.h: tiles, of which
// the processor with most is waited for, and of parts what they move to memory
// and back. What is added up in which order is the same in every run.
//
// Internal to the default schedule.
#ifndef EMBER_JIT_SCHEDULE_GPU_GPU_SUM_PARTS_H_
#define EMBER_JIT_SCHEDULE_GPU_GPU_SUM_PARTS_H_

#include <set>
#include <string>

#include "jit/schedule/core/schedule.h"
#include "jit/target/gpu_model.h"

namespace ember::schedule {

// Schedules the product, which is `root` or computed point by point for it, and
// the root, with stages that are computed for their points. False if no rule
// applies; nothing is changed then. done: gets the stages that were scheduled.
bool ScheduleSumOnGpu(const jit::GpuModel& gpu, const std::string& root,
                      const std::string& product, std::set<std::string>& done,
                      Schedule& schedule);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_GPU_GPU_SUM_PARTS_H_
