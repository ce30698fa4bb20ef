// The schedule that a dispatch gets on a GPU without tuning.
//
//   Schedule schedule(Disassemble(dispatch, parameters));
//   EMBER_RETURN_IF_ERROR(ScheduleForGpu(GpuModel::Of(target), schedule));
//
// The rules, in the order in which stages are looked at (last first):
//   products   sums of products: a workgroup has a tile of results, each
//              invocation a tile of that in registers; slices of the operands
//              are loaded together into shared memory where that is fast;
//              stages that are computed point by point from them work on the
//              tile
//   matrices   products of types that subgroups multiply matrices of: a workgroup
//              has a tile of them, stages behind work on the tile
//   parts      of the sums of such products, where that costs less: each is a
//              product in tiles, further invocations add them up; of all sums,
//              or of those of the last wave's tiles
//   row tiles  products of that kind that read what stages made of another's
//              results (attention): a workgroup has a tile of rows of all
//   split      other reductions that are too long for one invocation, or to too
//              few results to keep the device busy: parts of them first
//   rows       stages that need only a row of each other, with reductions along
//              it (softmax, norms, sums): a workgroup has a row, which its
//              invocations combine together; or, where rows are short or many,
//              an invocation
//   points     of any other stage: workgroups and invocations, reductions one
//              after another in an invocation; stages that it reads point by
//              point are computed there; or else, where that moves aligned
//              vectors, neighbours in one invocation
//   the rest   stages whose points may not run at once: one invocation
// Whatever a rule asks for goes through the primitives, which refuse what would
// be wrong. Loops that Lower would refuse are not made: a schedule that this
// gives can be lowered.
#ifndef EMBER_JIT_SCHEDULE_GPU_GPU_SCHEDULE_H_
#define EMBER_JIT_SCHEDULE_GPU_GPU_SCHEDULE_H_

#include "base/status.h"
#include "jit/schedule/core/schedule.h"
#include "jit/target/gpu_model.h"

namespace ember::schedule {

// schedule: as its dispatch is written.
Status ScheduleForGpu(const jit::GpuModel& gpu, Schedule& schedule);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_GPU_GPU_SCHEDULE_H_
