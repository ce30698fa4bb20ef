// The schedule that a dispatch gets without tuning: chosen by an analytical
// model of the CPU from how loads move with the axes.
//
//   Schedule schedule(Disassemble(dispatch, parameters));
//   EMBER_RETURN_IF_ERROR(ScheduleByModel(CpuModel::Of(target), schedule));
//   schedule.ToText();   // can be read, changed, replayed
//
// The rules, in the order in which stages are looked at (last first):
//   groups     stages whose results are read row by row by a later one join it
//   products   sums of products get a tile of results in vector registers: rows
//              by vectors, as many as keep the multipliers busy; constant
//              operands that are read along the lanes are packed; elementwise
//              stages behind them work on the tile
//   winograd   convolutions by constant filters, where that takes less time:
//              with fewer multiplications and other rounding
//   rows       other groups run row by row, each stage inside one row; with a
//              product in them, as many rows at once as make whole register
//              tiles and stay in the cache
//   blocks     where not even the rows of a register tile stay in the caches, a
//              softmax and its product go over them in blocks, with other
//              rounding (online_softmax.h)
//   the rest   lanes along the axis that memory runs along; sums along it in
//              lanes of their own; what transposes, by tiles
// Whatever a rule asks for goes through the primitives, which refuse what would
// be wrong.
#ifndef EMBER_JIT_SCHEDULE_CPU_DEFAULT_SCHEDULE_H_
#define EMBER_JIT_SCHEDULE_CPU_DEFAULT_SCHEDULE_H_

#include "base/status.h"
#include "jit/schedule/core/schedule.h"
#include "jit/target/cpu_model.h"

namespace ember::schedule {

struct ModelOptions {
  // Only primitives that keep rounding (KeepsRounding in primitives.h): no
  // convolution by Winograd's method, no softmax in blocks.
  bool exact = false;
};

// schedule: as its dispatch is written.
Status ScheduleByModel(const jit::CpuModel& cpu, Schedule& schedule,
                       const ModelOptions& options = {});

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_CPU_DEFAULT_SCHEDULE_H_
