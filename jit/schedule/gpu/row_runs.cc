#include "jit/schedule/gpu/row_runs.h"

#include <algorithm>

namespace ember::schedule {
namespace {

// Smallest number of elements of a part: the neighbours that an invocation
// loads at once.
constexpr int64_t kLanes = 4;
// Largest length of a run, used if possible: as many narrow floats as one load
// or store can move.
constexpr int64_t kMaxOfRun = 8;
// Largest number of elements of a part, which share the registers with other
// values.
constexpr int64_t kMaxOfPart = 16;

// Splits a loop over a run into a loop over vectors and a loop over their
// lanes.
std::vector<std::string> SplitRun(const std::string& stage,
                                  const std::string& run, const RowRuns& runs,
                                  ScheduleWriter& writer) {
  const int64_t lanes = std::min(kLanes, runs.run);
  writer.Do("split %" + stage + " " + run + " " + std::to_string(lanes) +
            " -> " + run + "_vector " + run + "_lane");
  return {run + "_vector", run + "_lane"};
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

std::vector<std::string> SplitRow(const std::string& stage,
                                  const std::string& loop, const RowRuns& runs,
                                  ScheduleWriter& writer) {
  std::vector<std::string> order = writer.LoopsOf(stage);
  const std::string run = loop + "_run", runs_of_row = loop + "_runs",
                    round = loop + "_round", item = loop + "_item";
  writer.Do("split %" + stage + " " + loop + " " + std::to_string(runs.run) +
            " -> " + runs_of_row + " " + run);
  writer.Do("split %" + stage + " " + runs_of_row + " " +
            std::to_string(runs.parts) + " -> " + round + " " + item);
  std::vector<std::string> inner = SplitRun(stage, run, runs, writer);
  inner.insert(inner.begin(), round);
  const auto at = std::ranges::find(order, loop);
  *at = item;
  order.insert(at + 1, inner.begin(), inner.end());
  writer.Reorder(stage, order);
  return inner;
}

std::vector<std::string> SplitPart(const std::string& stage,
                                   const std::string& loop, const RowRuns& runs,
                                   ScheduleWriter& writer) {
  const std::string run = loop + "_run", round = loop + "_round";
  writer.Do("split %" + stage + " " + loop + " " + std::to_string(runs.run) +
            " -> " + round + " " + run);
  std::vector<std::string> loops = SplitRun(stage, run, runs, writer);
  loops.insert(loops.begin(), round);
  return loops;
}

void BindLoops(const std::string& stage, const BoundLoops& loops,
               ScheduleWriter& writer) {
  int64_t together = std::min(loops.invocations, loops.points);
  while (loops.points % together != 0) --together;
  const std::string points =
      writer.FuseLoops(stage, loops.first, loops.count, "points");
  writer.Do("split %" + stage + " " + points + " " + std::to_string(together) +
            " -> " + points + "_round " + points + "_item");
  std::vector<std::string> order = writer.LoopsOf(stage);
  std::swap(order[loops.first], order[loops.first + 1]);
  writer.Reorder(stage, order);
  writer.Do("bind %" + stage + " " + points + "_item");
}

void BindNeighbours(const std::string& stage, const BoundLoops& loops,
                    int64_t lanes, ScheduleWriter& writer) {
  if (lanes == 1) return BindLoops(stage, loops, writer);
  const std::string last = writer.LoopsOf(stage)[loops.first + loops.count - 1];
  writer.Do("split %" + stage + " " + last + " " + std::to_string(lanes) +
            " -> " + last + "_vector " + last + "_lane");
  BoundLoops vectors = loops;
  vectors.points /= lanes;
  BindLoops(stage, vectors, writer);
  writer.Do("vectorize %" + stage + " " + last + "_lane");
}

void WriteOutPart(const std::string& stage,
                  const std::vector<std::string>& loops,
                  ScheduleWriter& writer) {
  for (size_t i = 0; i + 1 < loops.size(); ++i)
    writer.Do("unroll %" + stage + " " + loops[i]);
  writer.Do("vectorize %" + stage + " " + loops.back());
}

}  // namespace ember::schedule
