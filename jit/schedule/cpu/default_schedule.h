// Chooses the schedule that a dispatch gets without tuning, by an analytical
// model of the CPU and the way in which loads move with the axes.
//
//   Schedule schedule(Disassemble(dispatch, parameters));
//   EMBER_RETURN_IF_ERROR(ScheduleByModel(CpuModel::Of(target), schedule));
//   schedule.ToText();   // can be read, changed, replayed
//
// The rules, in the order in which stages are visited (last first):
//   groups     a stage whose results a later stage reads row by row joins it
//   products   sums of products get a tile of results in vector registers: rows
//              by vectors, as many as keep the multipliers busy; constant
//              operands that are read along the lanes are packed; later
//              elementwise stages work on the tile
//   winograd   convolutions with constant filters, if that takes less time:
//              with fewer multiplications and other rounding
//   rows       other groups run row by row, each stage inside one row; with a
//              product in them, as many rows at once as make whole register
//              tiles and stay in the cache
//   blocks     if not even the rows of a register tile stay in the caches, a
//              softmax and its product process them in blocks, with other
//              rounding (online_softmax.h)
//   hidden     loops over the keys of attention end with those that a causal
//              mask or a sliding window shows (skip_hidden)
//   the rest   lanes along the axis that memory runs along; sums along memory in
//              lanes of their own; transposes by tiles
// All rules apply primitives, which refuse illegal transformations.
#ifndef EMBER_JIT_SCHEDULE_CPU_DEFAULT_SCHEDULE_H_
#define EMBER_JIT_SCHEDULE_CPU_DEFAULT_SCHEDULE_H_

#include "base/status.h"
#include "jit/schedule/core/schedule.h"
#include "jit/target/cpu_model.h"

namespace ember::schedule {

struct ModelOptions {
  // True if only primitives that keep rounding (KeepsRounding in primitives.h)
  // may be used: no convolution by Winograd's method, no softmax in blocks.
  bool exact = false;
};

// Expects a schedule to which no primitive was applied.
Status ScheduleByModel(const jit::CpuModel& cpu, Schedule& schedule,
                       const ModelOptions& options = {});

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_CPU_DEFAULT_SCHEDULE_H_
