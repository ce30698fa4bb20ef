// How the invocations of a workgroup share rows: each row has as many parts,
// and each part has runs of neighbours, by turns:
//
//   for i { for j < 64 }        // {.parts = 4, .run = 8}
//
//   invocation points < 256 {   // part points mod 4 of row points / 4
//     unroll round < 2 { unroll vector < 2 { vector lane < 4 {
//       ... j = round * 32 + points mod 4 * 8 + vector * 4 + lane
//
// Stages whose rows have the same runs keep what one makes for the next in
// registers (jit/schedule/lowering/own_tiles.h), and read the others' results
// by vectors. Neighbouring invocations read vectors that are two apart, so that
// those of two rows, which begin one vector apart in other banks, never meet.
//
// Internal to the default schedule.
#ifndef EMBER_JIT_SCHEDULE_GPU_GPU_ROW_RUNS_H_
#define EMBER_JIT_SCHEDULE_GPU_GPU_ROW_RUNS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "jit/schedule/rules/schedule_writer.h"

namespace ember::schedule {

struct RowRuns {
  int64_t parts = 1;
  int64_t run = 1;
  bool operator==(const RowRuns&) const = default;
};

// Into how many parts as many invocations share a row of so many elements.
int64_t PartsOfRow(int64_t columns, int64_t invocations);
// Nothing if vectors do not divide what a part has, or registers have no room
// for it.
std::optional<RowRuns> RunsOfRow(int64_t columns, int64_t invocations);

// The stage's loop along the row becomes one over parts and, inside of it,
// those of a part, which are given: rounds, vectors of a run and their lanes.
std::vector<std::string> SplitRow(const std::string& stage,
                                  const std::string& loop, const RowRuns& runs,
                                  ScheduleWriter& writer);
// The same of the loop over a part of the row.
std::vector<std::string> SplitPart(const std::string& stage,
                                   const std::string& loop, const RowRuns& runs,
                                   ScheduleWriter& writer);

// Loops of a stage, one in the other from the first on, which have so many
// points, for as many invocations as there are.
struct BoundLoops {
  size_t first = 0;
  size_t count = 0;
  int64_t points = 0;
  int64_t invocations = 1;
};
// They become one, of which invocations do points in turns. They have as many
// each: guarded turns would count as rows that are needed.
void BindLoops(const std::string& stage, const BoundLoops& loops,
               ScheduleWriter& writer);
// The same, of which an invocation does so many neighbours at once.
void BindNeighbours(const std::string& stage, const BoundLoops& loops,
                    int64_t lanes, ScheduleWriter& writer);

// Loops of a part are written out, the last one as vectors.
void WriteOutPart(const std::string& stage,
                  const std::vector<std::string>& loops,
                  ScheduleWriter& writer);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_GPU_GPU_ROW_RUNS_H_
