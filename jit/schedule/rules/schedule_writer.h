// Writes a schedule primitive by primitive. The default schedules of CPUs and
// GPUs use it.
//
//   ScheduleWriter writer(schedule);
//   writer.Do("vectorize %y j");          // has to be legal
//   if (!writer.Try("parallel %y i")) {}  // may be refused
//   return writer.status();
//
// Thread-compatible. The schedule must outlive the writer.
#ifndef EMBER_JIT_SCHEDULE_RULES_SCHEDULE_WRITER_H_
#define EMBER_JIT_SCHEDULE_RULES_SCHEDULE_WRITER_H_

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "jit/schedule/core/computation.h"
#include "jit/schedule/core/schedule.h"
#include "jit/schedule/primitives/replay.h"

namespace ember::schedule {

// Applies primitives, and remembers the first error.
class ScheduleWriter {
 public:
  explicit ScheduleWriter(Schedule& schedule) : schedule_(schedule) {}

  const Schedule& schedule() const { return schedule_; }
  const Computation& computation() const { return schedule_.computation(); }
  int StageOf(const std::string& name) const {
    return computation().FindStage(name);
  }

  // Applies a primitive that must be legal.
  void Do(const std::string& line);
  // Applies a primitive. Returns false, without a change, if it is refused.
  bool Try(const std::string& line) { return Apply(line, schedule_).ok(); }
  // Returns the names of the stage's loops in order.
  std::vector<std::string> LoopsOf(const std::string& stage) const;
  // Fuses `count` loops of the stage, from loop number `first` on. Returns the
  // name of the fused loop; empty if count is 0.
  std::string FuseLoops(const std::string& stage, size_t first, size_t count,
                        const std::string& name);
  void Reorder(const std::string& stage, const std::vector<std::string>& loops);

  // Replaces the schedule by `schedule`, which another writer has made from a
  // copy of it.
  void Replace(Schedule schedule) { schedule_ = std::move(schedule); }

  const Status& status() const { return status_; }

 private:
  Schedule& schedule_;
  Status status_;
};

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_RULES_SCHEDULE_WRITER_H_
