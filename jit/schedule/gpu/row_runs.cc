#include "jit/schedule/gpu/row_runs.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace ember::schedule {
namespace {

// Number of neighbouring elements that an invocation loads at once; a part has
// at least as many.
constexpr int64_t kLanes = 4;
// Largest length of a run, which is used if possible: as many f16 numbers as
// one load or store moves.
constexpr int64_t kMaxOfRun = 8;
// Largest number of elements of a part. An invocation keeps them in registers,
// besides other values.
constexpr int64_t kMaxOfPart = 16;

// Splits the loop over a run of neighbours into a loop over vectors and a loop
// over their lanes. Returns the two loops.
std::vector<LoopRef> SplitRun(const LoopRef& run, const RowRuns& runs,
                              ScheduleWriter& writer) {
  const int64_t lanes = std::min(kLanes, runs.run);
  const auto [vector, lane] = writer.Split(run, lanes, "_vector", "_lane");
  return {vector, lane};
}

}  // namespace

int64_t PartsOfRow(int64_t columns, int64_t invocations) {
  int64_t parts = invocations;
  while (parts > 1 && columns / parts < kLanes) parts /= 2;
  return parts;
}

std::optional<RowRuns> RunsOfRow(int64_t columns, int64_t invocations) {
  const int64_t parts = PartsOfRow(columns, invocations);
  if (columns / parts > kMaxOfPart) return std::nullopt;
  for (int64_t run = kMaxOfRun; run >= kLanes; run /= 2) {
    if (columns % (parts * run) == 0) return RowRuns{parts, run};
  }
  return std::nullopt;
}

std::vector<LoopRef> SplitRow(const LoopRef& loop, const RowRuns& runs,
                              ScheduleWriter& writer) {
  std::vector<LoopRef> order = writer.LoopsOf(loop.stage);
  const auto [runs_of_row, run] = writer.Split(loop, runs.run, "_runs", "_run");
  const LoopRef round{loop.stage, loop.name + "_round"};
  const LoopRef item{loop.stage, loop.name + "_item"};
  writer.Do(Split{.loop = runs_of_row,
                  .factor = runs.parts,
                  .outer = round.name,
                  .inner = item.name});
  std::vector<LoopRef> inner = SplitRun(run, runs, writer);
  inner.insert(inner.begin(), round);
  const auto at = std::ranges::find(order, loop);
  *at = item;
  order.insert(at + 1, inner.begin(), inner.end());
  writer.Reorder(order);
  return inner;
}

std::vector<LoopRef> SplitPart(const LoopRef& loop, const RowRuns& runs,
                               ScheduleWriter& writer) {
  const auto [round, run] = writer.Split(loop, runs.run, "_round", "_run");
  std::vector<LoopRef> loops = SplitRun(run, runs, writer);
  loops.insert(loops.begin(), round);
  return loops;
}

void BindLoops(const StageRef& stage, const BoundLoops& loops,
               ScheduleWriter& writer) {
  int64_t together = std::min(loops.invocations, loops.points);
  while (loops.points % together != 0) --together;
  const LoopRef points =
      writer.FuseLoops(stage, loops.first, loops.count, "points");
  const LoopRef item = writer.Split(points, together, "_round", "_item").inner;
  std::vector<LoopRef> order = writer.LoopsOf(stage);
  std::swap(order[loops.first], order[loops.first + 1]);
  writer.Reorder(order);
  writer.Do(Bind{item});
}

void BindNeighbours(const StageRef& stage, const BoundLoops& loops,
                    int64_t lanes, ScheduleWriter& writer) {
  if (lanes == 1) return BindLoops(stage, loops, writer);
  const LoopRef last = writer.LoopsOf(stage)[loops.first + loops.count - 1];
  const LoopRef lane = writer.Split(last, lanes, "_vector", "_lane").inner;
  BoundLoops vectors = loops;
  vectors.points /= lanes;
  BindLoops(stage, vectors, writer);
  writer.Do(Vectorize{lane});
}

void WriteOutPart(const std::vector<LoopRef>& loops, ScheduleWriter& writer) {
  for (size_t i = 0; i + 1 < loops.size(); ++i) writer.Do(Unroll{loops[i]});
  writer.Do(Vectorize{loops.back()});
}

}  // namespace ember::schedule
