// Chooses the schedule that a dispatch gets on a GPU without tuning.
//
//   Schedule schedule(Disassemble(dispatch, parameters));
//   EMBER_RETURN_IF_ERROR(ScheduleForGpu(GpuModel::Of(target), schedule));
//
// The rules, in the order in which stages are visited (last first):
//   products   sums of products: a workgroup has a tile of results, each
//              invocation a tile of that in registers; slices of the operands
//              are loaded together into shared memory where that is fast;
//              stages that are computed point by point from them work on the
//              tile
//   matrices   products of types for which subgroups multiply matrices: a
//              workgroup has a tile of matrices, later stages work on the tile
//   parts      parts of the sums of such products (split-K, stream-K), where that
//              costs less: each is a product in tiles, and further invocations
//              add them up; of all sums, or of those of the last wave's tiles
//   row tiles  products of that kind that read what stages computed from
//              another's results (attention): a workgroup has a tile of rows of
//              all stages
//   split      other reductions that are too long for one invocation, or have too
//              few results to keep the device busy: parts of them first
//   rows       stages that need only a row of each other, with reductions along
//              it (softmax, norms, sums): a workgroup has a row, which its
//              invocations combine together; or, if rows are short or many,
//              an invocation has a row
//   points     any other stage: workgroups and invocations, reductions one
//              after another in an invocation; stages that it reads point by
//              point are computed there, as vectors of neighbours if that moves
//              aligned vectors
//   the rest   stages whose points may not run at once: one invocation
// All rules apply primitives, which refuse illegal transformations. No rule
// makes loops that Lower would refuse, so the resulting schedule can be
// lowered.
#ifndef EMBER_JIT_SCHEDULE_GPU_SCHEDULE_H_
#define EMBER_JIT_SCHEDULE_GPU_SCHEDULE_H_

#include "base/status.h"
#include "jit/schedule/core/schedule.h"
#include "jit/target/gpu_model.h"

namespace ember::schedule {

// Expects a schedule to which no primitive was applied.
Status ScheduleForGpu(const jit::GpuModel& gpu, Schedule& schedule);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_GPU_SCHEDULE_H_
