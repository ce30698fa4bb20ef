// Maps the axes of a group's root to those of its members (root_axes.h).
#include "jit/schedule/rules/root_axes.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "jit/schedule/core/attachments.h"

namespace ember::schedule {
namespace {

// Returns the root's axis for each spatial axis of the member; -1: none.
std::vector<int> AxesIn(const ScheduleWriter& writer, const StageGroup& group,
                        const std::string& member) {
  const int stage = writer.StageOf(member);
  std::vector<int> axes =
      AxesOfReader(writer.schedule(), stage, writer.StageOf(group.root));
  axes.resize(
      static_cast<size_t>(writer.computation().stages[stage].spatial_count));
  return axes;
}

}  // namespace

std::optional<RootAxes> RootAxesOf(const ScheduleWriter& writer,
                                   const StageGroup& group,
                                   const std::string& member) {
  const Computation& c = writer.computation();
  const ComputationStage& root = c.stages[writer.StageOf(group.root)];
  const ComputationStage& stage = c.stages[writer.StageOf(member)];
  const auto is_point = [&](const ComputationAxis& axis) {
    return c.pool[axis.extent].range.high <= 1;
  };
  const std::vector<int> axes = AxesIn(writer, group, member);
  RootAxes found;
  for (int a = 0; a < root.spatial_count; ++a) {
    if (std::ranges::find(axes, a) != axes.end()) continue;
    if (!is_point(root.axes[a])) return std::nullopt;
    found.others.push_back(root.axes[a].name);
  }
  for (size_t a = 0; a < axes.size(); ++a) {
    if (axes[a] >= 0 && std::ranges::count(axes, axes[a]) > 1)
      return std::nullopt;
    std::string name = axes[a] < 0 ? "" : root.axes[axes[a]].name;
    // Axes with one point are indexed by 0, so nothing says which ones are
    // equal: they are matched in their order.
    if (axes[a] < 0 && is_point(stage.axes[a]) && !found.others.empty()) {
      name = found.others.front();
      found.others.erase(found.others.begin());
    }
    found.names.push_back(std::move(name));
  }
  return found;
}

std::string AxisOfMember(const ScheduleWriter& writer, const StageGroup& group,
                         const std::string& member,
                         const std::string& root_axis) {
  const std::optional<RootAxes> axes = RootAxesOf(writer, group, member);
  if (!axes) return "";
  const auto found = std::ranges::find(axes->names, root_axis);
  if (found == axes->names.end()) return "";
  return writer.computation()
      .stages[writer.StageOf(member)]
      .axes[static_cast<size_t>(found - axes->names.begin())]
      .name;
}

CommonAxes CommonAxesOf(const ScheduleWriter& writer, const StageGroup& group,
                        int depth, const std::string& stage) {
  const Computation& c = writer.computation();
  CommonAxes common;
  std::vector<int> axes;
  if (stage == group.root) {
    axes.resize(
        static_cast<size_t>(c.stages[writer.StageOf(stage)].spatial_count));
    std::iota(axes.begin(), axes.end(), 0);
  } else {
    axes = AxesIn(writer, group, stage);
  }
  for (size_t a = 0; a < axes.size(); ++a) {
    common.is_common.push_back(axes[a] >= 0 && axes[a] < depth);
    if (axes[a] == depth - 1 && depth > 0) common.rows = static_cast<int>(a);
  }
  return common;
}

}  // namespace ember::schedule
