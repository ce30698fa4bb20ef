
#include "jit/schedule/primitives/replay.h"

#include <algorithm>
#include <string>
#include <utility>

#include "jit/schedule/primitives/primitives.h"

namespace ember::schedule {

Status Apply(const Step& step, Schedule& schedule) {
  // If the primitive is refused, the schedule must be as before. If the
  // primitive changes only loops, it is applied directly, and only the loops of
  // its stage are saved and restored. Any other primitive is applied to a copy
  // of the schedule.
  const int stage = schedule.computation().FindStage(StageOf(step).name);
  if (InfoOf(step).changes_loops_only && stage >= 0) {
    const StagePlan before = schedule.plan(stage);
    if (Status status = Run(step, schedule); !status.ok()) {
      schedule.mutable_plan(stage) = before;
      return status.WithContext(ToText(step));
    }
    schedule.Record(step);
    return OkStatus();
  }
  Schedule changed = schedule;
  if (Status status = Run(step, changed); !status.ok())
    return status.WithContext(ToText(step));
  changed.Record(step);
  schedule = std::move(changed);
  return OkStatus();
}

Status Apply(std::string_view line, Schedule& schedule) {
  const StatusOr<Step> step = ParseStep(line);
  if (!step.ok()) return step.status().WithContext(line);
  return Apply(*step, schedule);
}

Status Replay(std::string_view text, Schedule& schedule) {
  for (int number = 1; !text.empty(); ++number) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    line = line.substr(0, std::min(line.find("//"), line.size()));
    const size_t first = line.find_first_not_of(" \t\r");
    if (first == std::string_view::npos) continue;
    line = line.substr(first, line.find_last_not_of(" \t\r") + 1 - first);
    if (line == "}" || line.starts_with("schedule ")) continue;
    if (const Status status = Apply(line, schedule); !status.ok())
      return status.WithContext("line " + std::to_string(number));
  }
  return OkStatus();
}

}  // namespace ember::schedule
