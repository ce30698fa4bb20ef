// Writes a schedule step by step. The default schedules of CPUs and GPUs use
// it. Steps have typed operands: stages, loops and buffers are references, and
// primitives that make loops or stages return references to them.
//
//   ScheduleWriter writer(schedule);
//   const LoopRef j = writer.LoopsOf(y).back();
//   const auto [tile, lane] = writer.Split(j, 16, "_tile", "_lane");
//   writer.Do(Vectorize{lane});          // has to be legal
//   if (!writer.Try(Parallel{tile})) {}  // may be refused
//   return writer.status();
//
// Thread-compatible. The schedule must outlive the writer.
#ifndef EMBER_JIT_SCHEDULE_RULES_SCHEDULE_WRITER_H_
#define EMBER_JIT_SCHEDULE_RULES_SCHEDULE_WRITER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "jit/schedule/core/computation.h"
#include "jit/schedule/core/schedule.h"
#include "jit/schedule/core/steps.h"
#include "jit/schedule/primitives/replay.h"

namespace ember::schedule {

// Applies steps to a schedule, and keeps the first error.
class ScheduleWriter {
 public:
  explicit ScheduleWriter(Schedule& schedule) : schedule_(schedule) {}

  const Schedule& schedule() const { return schedule_; }
  const Computation& computation() const { return schedule_.computation(); }
  // Returns the number of the stage, or -1 if there is none.
  int NumberOf(const StageRef& stage) const {
    return computation().FindStage(stage.name);
  }
  // Returns the stage, which must exist.
  const ComputationStage& StageAt(const StageRef& stage) const {
    return computation().stages[static_cast<size_t>(NumberOf(stage))];
  }
  // Returns the stage's loops in order.
  std::vector<LoopRef> LoopsOf(const StageRef& stage) const;

  // Applies a step that must be legal. A refusal becomes the writer's error.
  void Do(const Step& step);
  // Applies a step. Returns false, without a change, if it is refused.
  bool Try(const Step& step) { return Apply(step, schedule_).ok(); }

  // Split, FuseLoops and Reorder apply steps that must be legal. Split and
  // FuseLoops return the new loops. The names of the loops that Split makes are
  // the old name and a suffix.
  struct SplitLoops {
    LoopRef outer, inner;
  };
  SplitLoops Split(const LoopRef& loop, int64_t factor,
                   std::string_view outer_suffix,
                   std::string_view inner_suffix);
  // Fuses `count` loops of the stage, from loop number `first` on, to a loop
  // `name`, which is returned. If `count` is 0, returns a loop without a name.
  LoopRef FuseLoops(const StageRef& stage, size_t first, size_t count,
                    const std::string& name);
  // Puts two or more loops of one stage into the order of the list.
  void Reorder(std::vector<LoopRef> loops) {
    Do(schedule::Reorder{std::move(loops)});
  }

  // Replaces the schedule by one that another writer has made from a copy of
  // it.
  void Replace(Schedule schedule) { schedule_ = std::move(schedule); }

  const Status& status() const { return status_; }

 private:
  Schedule& schedule_;
  Status status_;
};

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_RULES_SCHEDULE_WRITER_H_
