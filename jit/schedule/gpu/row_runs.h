// Divides rows among the invocations of a workgroup: each row has the same
// number of parts, and each part has runs of neighbours, interleaved with those
// of other parts:
//
//   for i { for j < 64 }        // {.parts = 4, .run = 8}
//
//   invocation points < 256 {   // part points mod 4 of row points / 4
//     unroll round < 2 { unroll vector < 2 { vector lane < 4 {
//       ... j = round * 32 + points mod 4 * 8 + vector * 4 + lane
//
// Stages whose rows have the same runs pass results to each other in registers
// (jit/schedule/lowering/own_tiles.h), and read other stages' results by
// vectors. Neighbouring invocations of a row read vectors that are two apart,
// and neighbouring rows are padded to begin one vector apart in the banks. So
// invocations of two rows never have a bank conflict.
//
// Internal to the default schedule.
#ifndef EMBER_JIT_SCHEDULE_GPU_ROW_RUNS_H_
#define EMBER_JIT_SCHEDULE_GPU_ROW_RUNS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "jit/schedule/core/steps.h"
#include "jit/schedule/rules/schedule_writer.h"

namespace ember::schedule {

struct RowRuns {
  int64_t parts = 1;
  int64_t run = 1;
  bool operator==(const RowRuns&) const = default;
};

// Returns the number of parts, one per invocation, into which a row of
// `columns` elements is divided.
int64_t PartsOfRow(int64_t columns, int64_t invocations);
// Returns how a row of `columns` elements is divided into parts and runs.
// Returns nullopt if a part is no multiple of vectors, or does not fit an
// invocation's registers.
std::optional<RowRuns> RunsOfRow(int64_t columns, int64_t invocations);

// Splits the stage's loop along the row into a loop over parts and the three
// loops inside a part, which are returned: over rounds, over the vectors of a
// run, and over their lanes.
std::vector<LoopRef> SplitRow(const LoopRef& loop, const RowRuns& runs,
                              ScheduleWriter& writer);
// Splits the loop over the elements of one part into the three loops inside a
// part that SplitRow returns.
std::vector<LoopRef> SplitPart(const LoopRef& loop, const RowRuns& runs,
                               ScheduleWriter& writer);

// The nested loops of a stage that are divided among invocations: `count`
// loops, from number `first` on, with `points` iterations in all.
struct BoundLoops {
  size_t first = 0;
  size_t count = 0;
  int64_t points = 0;
  int64_t invocations = 1;
};
// Fuses the loops, and divides their iterations (points) among the invocations,
// which compute them in rounds. Each invocation must have the same number of
// points: otherwise the last round would be guarded, and rows beyond the end
// would count as read.
void BindLoops(const StageRef& stage, const BoundLoops& loops,
               ScheduleWriter& writer);
// Does the same as BindLoops, but an invocation computes `lanes` neighbouring
// points in each round.
void BindNeighbours(const StageRef& stage, const BoundLoops& loops,
                    int64_t lanes, ScheduleWriter& writer);

// Unrolls the loops inside a part of a row, and vectorizes the innermost one.
void WriteOutPart(const std::vector<LoopRef>& loops, ScheduleWriter& writer);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_GPU_ROW_RUNS_H_
