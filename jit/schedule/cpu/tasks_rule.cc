
#include "jit/schedule/cpu/tasks_rule.h"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "jit/schedule/core/dependences.h"
#include "jit/schedule/rules/stage_shape.h"

namespace ember::schedule {
namespace {

// True if some stage is attached to this loop of the stage.
bool HasStage(const Schedule& schedule, int stage, int loop) {
  const int count = static_cast<int>(schedule.computation().stages.size());
  for (int i = 0; i < count; ++i) {
    const StagePlan& plan = schedule.plan(i);
    if (plan.attach_stage == stage && plan.attach_loop == loop) return true;
  }
  return false;
}

// Number of tasks with which all cores are busy until nearly all work is done.
int64_t EnoughTasks(const jit::CpuModel& cpu) { return 16 * cpu.cores; }

}  // namespace

bool IsWorthThreads(int64_t points) { return points >= 32768; }

size_t LoopsOfTasks(const jit::CpuModel& cpu, const ScheduleWriter& writer,
                    int stage, size_t most) {
  const int64_t enough_tasks = EnoughTasks(cpu);
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

std::optional<SplitAxis> SplitForTasks(const jit::CpuModel& cpu,
                                       const StageRef& stage,
                                       ScheduleWriter& writer) {
  constexpr int64_t kPointsOfTask = 2048;
  constexpr int64_t kFewestPoints = 256;
  const int number = writer.NumberOf(stage);
  LoopRef loop{stage, ""};
  int axis = 0;
  int64_t points = kPointsOfTask;
  {
    const StageShape shape(writer.computation(), number);
    axis = shape.spatial_count() - 1;
    while (axis > 0 && shape.LikelyExtent(axis) < 2) --axis;
    if (axis < 1) return std::nullopt;
    int64_t rows = 1;
    for (int a = 0; a < axis; ++a) rows *= shape.LikelyExtent(a);
    const auto tasks = [&] {
      return rows * (shape.LikelyExtent(axis) / points);
    };
    while (points > kFewestPoints && tasks() < EnoughTasks(cpu)) points /= 2;
    // Chunks are not needed if there is one row, because a task then needs no
    // division to find its row, or if there are enough rows to make each a
    // task.
    if (rows < 2 || rows >= EnoughTasks(cpu) || shape.stage().has_reduction() ||
        !shape.Extent(axis) || !shape.StoresAlong(axis) ||
        !IsWorthThreads(shape.LikelyPoints()) ||
        shape.LikelyExtent(axis) < 4 * points ||
        std::ranges::any_of(
            shape.loads(),
            [&](NodeId load) {
              return shape.StrideOf(load, axis) == Stride::kOther;
            })) {
      return std::nullopt;
    }
    loop.name = shape.stage().axes[axis].name;
  }
  const auto [chunk, inner] = writer.Split(loop, points, "_chunk", "_rest");
  writer.Do(Peel{chunk});
  return SplitAxis{axis, inner};
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
