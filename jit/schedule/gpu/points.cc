
#include "jit/schedule/gpu/points.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/rounding.h"
#include "jit/schedule/core/attachments.h"
#include "jit/schedule/core/dependences.h"
#include "jit/schedule/rules/stage_shape.h"

namespace ember::schedule {
namespace {

// True if an invocation that computes a point of the root may also compute the
// part of the stage that this point needs. Each point must need a different
// part.
bool IsWorkOfPoint(const jit::GpuModel& gpu, const StageShape& stage,
                   const StageShape& root) {
  constexpr int64_t kMaxOfPoint = 8192;
  const int64_t points = root.LikelyPoints(0, root.spatial_count());
  const int64_t part = stage.LikelyPoints() / points;
  return part <= kMaxOfPoint &&
         (points >= gpu.busy_invocations || part < 16 * gpu.subgroup_size);
}

// Splits the stage's loop number `position` into vectors of `lanes` lanes, and
// returns the loop over lanes.
std::string SplitLanes(const std::string& name, size_t position, int64_t lanes,
                       ScheduleWriter& writer) {
  const std::string loop = writer.LoopsOf(name)[position];
  writer.Do("split %" + name + " " + loop + " " + std::to_string(lanes) +
            " -> " + loop + "_vector " + loop + "_lane");
  return loop + "_lane";
}

}  // namespace

std::set<std::string> JoinPoints(const jit::GpuModel& gpu,
                                 const std::string& root,
                                 const std::string& loop, int first,
                                 std::set<std::string>& done,
                                 ScheduleWriter& writer) {
  std::set<std::string> joined;
  const Computation& c = writer.computation();
  for (int p = writer.StageOf(root) - 1; p >= first; --p) {
    const std::string name = c.stages[p].name;
    if (done.contains(name) || StageShape(c, p).SharesOperands() ||
        !StoresAreIdentity(c, p)) {
      continue;
    }
    const int number = writer.StageOf(root);
    if (!IsWorkOfPoint(gpu, StageShape(c, p), StageShape(c, number))) continue;
    const int at = writer.schedule().plan(number).FindLoop(loop);
    if (IsComputedOnce(writer.schedule(), p, number, at) &&
        writer.Try("compute_at %" + name + " %" + root + " " + loop)) {
      done.insert(name);
      joined.insert(name);
    }
  }
  return joined;
}

bool VectorizeLast(const std::string& stage, ScheduleWriter& writer) {
  const int spatial =
      writer.computation().stages[writer.StageOf(stage)].spatial_count;
  if (spatial == 0) return false;
  const std::vector<std::string> loops = writer.LoopsOf(stage);
  std::vector<std::string> order = loops;
  const auto last = order.begin() + spatial - 1;
  std::rotate(last, last + 1, order.end());
  if (order != loops) writer.Reorder(stage, order);
  return writer.Try("vectorize %" + stage + " " + order.back());
}

std::optional<std::string> SchedulePoints(const jit::GpuModel& gpu,
                                          const std::string& name,
                                          int64_t lanes,
                                          ScheduleWriter& writer) {
  const int number = writer.StageOf(name);
  size_t together = 0;  // number of axes that are fused, from the last one back
  int64_t extent = 1;   // number of points of the fused axes
  bool is_constant = true;
  size_t count = 0;
  std::string lane;
  {
    const Computation& c = writer.computation();
    if (!StoresAreDistinct(c, number)) return std::nullopt;
    const StageShape shape(c, number);
    count = static_cast<size_t>(shape.spatial_count());
    if (count == 0) return std::nullopt;
    // Uses as few axes as fill workgroups well, because an index of several
    // axes needs divisions.
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
  if (lanes > 1) lane = SplitLanes(name, count - 1, lanes, writer);
  std::string item =
      writer.FuseLoops(name, count - together, together, "points");
  size_t outer = count - together;
  if (!is_constant || extent > gpu.workgroup_size) {
    const std::string size = std::to_string(gpu.workgroup_size);
    writer.Do("split %" + name + " " + item + " " + size + " -> " + item +
              "_group " + item + "_item");
    item += "_item";
    ++outer;
  }
  const std::string tasks = writer.FuseLoops(name, 0, outer, "tasks");
  if (outer > 0) writer.Do("parallel %" + name + " " + tasks);
  writer.Do("bind %" + name + " " + item);
  if (lane.empty()) return item;
  std::vector<std::string> order = writer.LoopsOf(name);
  std::erase(order, lane);
  order.push_back(lane);
  writer.Reorder(name, order);
  writer.Do("vectorize %" + name + " " + lane);
  return item;
}

std::string BindTogether(const std::string& name, int64_t count, int64_t lanes,
                         ScheduleWriter& writer) {
  const int number = writer.StageOf(name);
  const int spatial = writer.computation().stages[number].spatial_count;
  if (spatial == 0) return "";
  std::string lane;
  if (lanes > 1)
    lane = SplitLanes(name, static_cast<size_t>(spatial) - 1, lanes, writer);
  const std::string all =
      writer.FuseLoops(name, 0, static_cast<size_t>(spatial), "all");
  writer.Do("split %" + name + " " + all + " " + std::to_string(count) +
            " -> " + all + "_round " + all + "_item");
  // The rounds store different elements, but barriers treat a buffer as a
  // whole: an invocation runs all rounds before the next barrier.
  std::vector<std::string> order = {all + "_item", all + "_round"};
  if (!lane.empty()) order.push_back(lane);
  writer.Reorder(name, order);
  writer.Do("bind %" + name + " " + all + "_item");
  if (!lane.empty()) writer.Do("vectorize %" + name + " " + lane);
  return all + "_round";
}

}  // namespace ember::schedule
