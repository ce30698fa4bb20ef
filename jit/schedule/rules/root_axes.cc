// Maps the axes of a group's root to those of its members (root_axes.h).
#include "jit/schedule/rules/root_axes.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "jit/schedule/core/attachments.h"

namespace ember::schedule {
namespace {

// Returns, for each spatial axis of the member, the number of the root's axis
// that is equal to it; -1 if there is none.
std::vector<int> AxesIn(const ScheduleWriter& writer, const StageGroup& group,
                        const StageRef& member) {
  std::vector<int> axes = AxesOfReader(
      writer.schedule(), writer.NumberOf(member), writer.NumberOf(group.root));
  axes.resize(static_cast<size_t>(writer.StageAt(member).spatial_count));
  return axes;
}

}  // namespace

std::optional<RootAxes> RootAxesOf(const ScheduleWriter& writer,
                                   const StageGroup& group,
                                   const StageRef& member) {
  const Computation& c = writer.computation();
  const ComputationStage& root = writer.StageAt(group.root);
  const ComputationStage& stage = writer.StageAt(member);
  const auto is_point = [&](const ComputationAxis& axis) {
    return c.pool[axis.extent].range.high <= 1;
  };
  const std::vector<int> axes = AxesIn(writer, group, member);
  RootAxes found;
  for (int a = 0; a < root.spatial_count; ++a) {
    if (std::ranges::find(axes, a) != axes.end()) continue;
    if (!is_point(root.axes[a])) return std::nullopt;
    found.others.push_back({group.root, root.axes[a].name});
  }
  for (size_t a = 0; a < axes.size(); ++a) {
    if (axes[a] >= 0 && std::ranges::count(axes, axes[a]) > 1)
      return std::nullopt;
    std::optional<LoopRef> axis;
    if (axes[a] >= 0) axis = {group.root, root.axes[axes[a]].name};
    // An axis with one point is indexed by 0, so no index shows which of the
    // root's axes is equal to it. Such axes are matched in their order.
    if (axes[a] < 0 && is_point(stage.axes[a]) && !found.others.empty()) {
      axis = found.others.front();
      found.others.erase(found.others.begin());
    }
    found.axes.push_back(std::move(axis));
  }
  return found;
}

std::optional<LoopRef> AxisOfMember(const ScheduleWriter& writer,
                                    const StageGroup& group,
                                    const StageRef& member,
                                    const std::optional<LoopRef>& root_axis) {
  const std::optional<RootAxes> root = RootAxesOf(writer, group, member);
  if (!root) return std::nullopt;
  const auto found = std::ranges::find(root->axes, root_axis);
  if (found == root->axes.end()) return std::nullopt;
  const size_t number = static_cast<size_t>(found - root->axes.begin());
  return LoopRef{member, writer.StageAt(member).axes[number].name};
}

CommonAxes CommonAxesOf(const ScheduleWriter& writer, const StageGroup& group,
                        int depth, const StageRef& stage) {
  CommonAxes common;
  std::vector<int> axes;
  if (stage == group.root) {
    axes.resize(static_cast<size_t>(writer.StageAt(stage).spatial_count));
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
