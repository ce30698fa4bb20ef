
#include "jit/schedule/cpu/tasks_rule.h"

#include <cstdint>
#include <limits>

#include "jit/schedule/core/dependences.h"
#include "jit/schedule/rules/stage_shape.h"

namespace ember::schedule {
namespace {

// True if another stage is attached to this loop of the stage.
bool HasStage(const Schedule& schedule, int stage, int loop) {
  const int count = static_cast<int>(schedule.computation().stages.size());
  for (int i = 0; i < count; ++i) {
    const StagePlan& plan = schedule.plan(i);
    if (plan.attach_stage == stage && plan.attach_loop == loop) return true;
  }
  return false;
}

}  // namespace

bool IsWorthThreads(int64_t points) { return points >= 32768; }

size_t LoopsOfTasks(const jit::CpuModel& cpu, const ScheduleWriter& writer,
                    int stage, size_t most) {
  const int64_t enough_tasks = 16 * cpu.cores;
  size_t count = 0;
  int64_t tasks = 1;
  const StagePlan& plan = writer.schedule().plan(stage);
  const StageShape shape(writer.computation(), stage);
  const auto likely = [&](int axis) { return shape.LikelyExtent(axis); };
  for (int loop : plan.order) {
    if (plan.loops[loop].is_reduction ||
        plan.loops[loop].mark != LoopMark::kSerial || tasks >= enough_tasks ||
        count == most || HasStage(writer.schedule(), stage, loop)) {
      break;
    }
    tasks *= *plan.IterationsOf(loop, likely);
    ++count;
  }
  return count;
}

void ScheduleTasks(const jit::CpuModel& cpu, const StageRef& stage,
                   ScheduleWriter& writer) {
  const int number = writer.NumberOf(stage);
  {
    const StageShape shape(writer.computation(), number);
    if (!IsWorthThreads(shape.LikelyPoints()) ||
        !StoresAreDistinct(writer.computation(), number)) {
      return;
    }
  }
  const size_t count =
      LoopsOfTasks(cpu, writer, number, std::numeric_limits<size_t>::max());
  if (count == 0) return;
  writer.Do(Parallel{writer.FuseLoops(stage, 0, count, "tasks")});
}

}  // namespace ember::schedule
