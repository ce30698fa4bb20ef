
#include "jit/schedule/gpu/points.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "base/rounding.h"
#include "jit/schedule/core/attachments.h"
#include "jit/schedule/core/dependences.h"
#include "jit/schedule/rules/stage_shape.h"

namespace ember::schedule {
namespace {

// True if the part of the stage that a point of the root needs is little enough
// work for the invocation that computes the point. The parts of different
// points must not overlap.
bool IsWorkOfPoint(const jit::GpuModel& gpu, const StageShape& stage,
                   const StageShape& root) {
  constexpr int64_t kMaxOfPoint = 8192;
  const int64_t points = root.LikelyPoints(0, root.spatial_count());
  const int64_t part = stage.LikelyPoints() / points;
  return part <= kMaxOfPoint &&
         (points >= gpu.busy_invocations || part < 16 * gpu.subgroup_size);
}

// Splits the stage's loop at position `position` into a loop over vectors and a
// loop over their `lanes` lanes. Returns the loop over lanes.
LoopRef SplitLanes(const StageRef& stage, size_t position, int64_t lanes,
                   ScheduleWriter& writer) {
  const LoopRef loop = writer.LoopsOf(stage)[position];
  return writer.Split(loop, lanes, "_vector", "_lane").inner;
}

}  // namespace

std::set<StageRef> JoinPoints(const jit::GpuModel& gpu, const StageRef& root,
                              const LoopRef& loop, int first,
                              std::set<StageRef>& done,
                              ScheduleWriter& writer) {
  std::set<StageRef> joined;
  const Computation& c = writer.computation();
  for (int p = writer.NumberOf(root) - 1; p >= first; --p) {
    const StageRef stage{c.stages[p].name};
    if (done.contains(stage) || StageShape(c, p).SharesOperands() ||
        !StoresAreIdentity(c, p)) {
      continue;
    }
    const int number = writer.NumberOf(root);
    if (!IsWorkOfPoint(gpu, StageShape(c, p), StageShape(c, number))) continue;
    const int at = writer.schedule().plan(number).FindLoop(loop.name);
    if (IsComputedOnce(writer.schedule(), p, number, at) &&
        writer.Try(ComputeAt{.producer = stage, .loop = loop})) {
      done.insert(stage);
      joined.insert(stage);
    }
  }
  return joined;
}

bool VectorizeLast(const StageRef& stage, ScheduleWriter& writer) {
  const int spatial = writer.StageAt(stage).spatial_count;
  if (spatial == 0) return false;
  const std::vector<LoopRef> loops = writer.LoopsOf(stage);
  std::vector<LoopRef> order = loops;
  const auto last = order.begin() + spatial - 1;
  std::rotate(last, last + 1, order.end());
  if (order != loops) writer.Reorder(order);
  return writer.Try(Vectorize{order.back()});
}

std::optional<LoopRef> SchedulePoints(const jit::GpuModel& gpu,
                                      const StageRef& stage, int64_t lanes,
                                      ScheduleWriter& writer) {
  const int number = writer.NumberOf(stage);
  size_t together = 0;  // number of axes, the last ones, whose loops are fused
  int64_t extent = 1;   // number of points along the fused axes
  bool is_constant = true;
  size_t count = 0;
  {
    const Computation& c = writer.computation();
    if (!StoresAreDistinct(c, number)) return std::nullopt;
    const StageShape shape(c, number);
    count = static_cast<size_t>(shape.spatial_count());
    if (count == 0) return std::nullopt;
    // Fuses no more of the last axes than fill workgroups well, because the
    // index of each further axis takes a division.
    const auto is_enough = [&] {
      const int64_t groups = DivideRoundingUp(extent, gpu.workgroup_size);
      return extent >= gpu.workgroup_size &&
             extent * 8 >= groups * gpu.workgroup_size * 7;
    };
    while (together < count && !is_enough()) {
      const int axis = static_cast<int>(count - ++together);
      is_constant &= shape.Extent(axis).has_value();
      int64_t size = std::max<int64_t>(shape.LikelyExtent(axis), 1);
      if (together == 1) size = DivideRoundingUp(size, lanes);
      extent = std::min(extent * size, int64_t{1} << 40);
    }
  }
  std::optional<LoopRef> lane;
  if (lanes > 1) lane = SplitLanes(stage, count - 1, lanes, writer);
  LoopRef item = writer.FuseLoops(stage, count - together, together, "points");
  size_t outer = count - together;
  if (!is_constant || extent > gpu.workgroup_size) {
    item = writer.Split(item, gpu.workgroup_size, "_group", "_item").inner;
    ++outer;
  }
  const LoopRef tasks = writer.FuseLoops(stage, 0, outer, "tasks");
  if (outer > 0) writer.Do(Parallel{tasks});
  writer.Do(Bind{item});
  if (!lane) return item;
  std::vector<LoopRef> order = writer.LoopsOf(stage);
  std::erase(order, *lane);
  order.push_back(*lane);
  writer.Reorder(order);
  writer.Do(Vectorize{*lane});
  return item;
}

std::optional<LoopRef> BindTogether(const StageRef& stage, int64_t count,
                                    int64_t lanes, ScheduleWriter& writer) {
  const int spatial = writer.StageAt(stage).spatial_count;
  if (spatial == 0) return std::nullopt;
  std::optional<LoopRef> lane;
  if (lanes > 1)
    lane = SplitLanes(stage, static_cast<size_t>(spatial) - 1, lanes, writer);
  const LoopRef all =
      writer.FuseLoops(stage, 0, static_cast<size_t>(spatial), "all");
  const auto [round, item] = writer.Split(all, count, "_round", "_item");
  // The loop over rounds is inside the loop over invocations, so that an
  // invocation computes all of its points before the next barrier. The other
  // order would need a barrier per round, because barriers treat a buffer as a
  // whole.
  std::vector<LoopRef> order = {item, round};
  if (lane) order.push_back(*lane);
  writer.Reorder(order);
  writer.Do(Bind{item});
  if (lane) writer.Do(Vectorize{*lane});
  return round;
}

}  // namespace ember::schedule
