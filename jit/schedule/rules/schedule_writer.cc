
#include "jit/schedule/rules/schedule_writer.h"

#include <cstddef>
#include <string>
#include <vector>

namespace ember::schedule {

void ScheduleWriter::Do(const std::string& line) {
  if (!status_.ok()) return;
  status_ = Apply(line, schedule_);
}

std::vector<std::string> ScheduleWriter::LoopsOf(
    const std::string& stage) const {
  const StagePlan& plan = schedule_.plan(StageOf(stage));
  std::vector<std::string> names;
  for (int loop : plan.order) names.push_back(plan.loops[loop].name);
  return names;
}

std::string ScheduleWriter::FuseLoops(const std::string& stage, size_t first,
                                      size_t count, const std::string& name) {
  const std::vector<std::string> loops = LoopsOf(stage);
  if (count == 0) return "";
  std::string fused = loops[first];
  for (size_t i = 1; i < count; ++i) {
    const std::string next =
        i + 1 == count ? name : name + "_" + std::to_string(i);
    Do("fuse %" + stage + " " + fused + " " + loops[first + i] + " -> " + next);
    fused = next;
  }
  return fused;
}

void ScheduleWriter::Reorder(const std::string& stage,
                             const std::vector<std::string>& loops) {
  std::string line = "reorder %" + stage;
  for (const std::string& loop : loops) line += " " + loop;
  Do(line);
}

}  // namespace ember::schedule
