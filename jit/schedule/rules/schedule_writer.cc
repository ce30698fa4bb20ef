#include "jit/schedule/rules/schedule_writer.h"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace ember::schedule {

void ScheduleWriter::Do(const Step& step) {
  if (!status_.ok()) return;
  status_ = Apply(step, schedule_);
}

std::vector<LoopRef> ScheduleWriter::LoopsOf(const StageRef& stage) const {
  const StagePlan& plan = schedule_.plan(NumberOf(stage));
  std::vector<LoopRef> loops;
  for (int loop : plan.order) loops.push_back({stage, plan.loops[loop].name});
  return loops;
}

ScheduleWriter::SplitLoops ScheduleWriter::Split(
    const LoopRef& loop, int64_t factor, std::string_view outer_suffix,
    std::string_view inner_suffix) {
  SplitLoops made{.outer = loop, .inner = loop};
  made.outer.name += outer_suffix;
  made.inner.name += inner_suffix;
  Do(schedule::Split{.loop = loop,
                     .factor = factor,
                     .outer = made.outer.name,
                     .inner = made.inner.name});
  return made;
}

LoopRef ScheduleWriter::FuseLoops(const StageRef& stage, size_t first,
                                  size_t count, const std::string& name) {
  if (count == 0) return {stage, ""};
  const std::vector<LoopRef> loops = LoopsOf(stage);
  LoopRef fused = loops[first];
  for (size_t i = 1; i < count; ++i) {
    LoopRef next{stage, i + 1 == count ? name : name + "_" + std::to_string(i)};
    Do(Fuse{.outer = fused, .inner = loops[first + i], .fused = next.name});
    fused = std::move(next);
  }
  return fused;
}

}  // namespace ember::schedule
