// Maps the axes of a group's root (its last stage) to those of its members.
#ifndef EMBER_JIT_SCHEDULE_RULES_ROOT_AXES_H_
#define EMBER_JIT_SCHEDULE_RULES_ROOT_AXES_H_

#include <optional>
#include <vector>

#include "jit/schedule/core/steps.h"
#include "jit/schedule/rules/schedule_writer.h"
#include "jit/schedule/rules/stage_groups.h"

namespace ember::schedule {

// Says, for each axis of a member, which axis of the group's root is equal to
// it. For a product that is stored transposed
//
//   %conv[i0, i1, i2]  = sum(k < 32) %x[i0, i1, k] * %w[k, i2]
//   %y[j0, j1, j2, j3] = max(%conv[j0, j2, j1], 0.0)     for j3 < 1
//
// gives {"j0", "j2", "j1"} and {"j3"}. Axes with one point in both are matched
// in their order.
struct RootAxes {
  // For each spatial axis of the member, the root's axis that is equal to it.
  // nullopt if there is none, because the root reads one index only.
  std::vector<std::optional<LoopRef>> axes;
  // The root's axes that are equal to none of the member's. Each of them has
  // one point.
  std::vector<LoopRef> others;
};

// Returns the axes of the root for those of the member. Returns nullopt if two
// of the member's axes are equal to one of the root's, or if an axis of the
// root that has several points is equal to none of the member's.
std::optional<RootAxes> RootAxesOf(const ScheduleWriter& writer,
                                   const StageGroup& group,
                                   const StageRef& member);

// Returns the member's axis that is equal to the root's axis; nullopt if there
// is none. If `root_axis` is nullopt, returns the member's first axis that is
// equal to none of the root's.
std::optional<LoopRef> AxisOfMember(const ScheduleWriter& writer,
                                    const StageGroup& group,
                                    const StageRef& member,
                                    const std::optional<LoopRef>& root_axis);

// Describes a stage of a group whose stages have the root's first `depth` axes
// in common. `is_common` has an element per axis over points: true if the axis
// is one of the common ones, at whatever position. For an axis with one point
// the element may be false.
struct CommonAxes {
  std::vector<bool> is_common;
  // The stage's axis that is the last common axis of the root; -1 if there is
  // none.
  int rows = -1;

  bool IsCommon(int axis) const {
    return axis < static_cast<int>(is_common.size()) &&
           is_common[static_cast<size_t>(axis)];
  }
};

// Finds the common axes of `stage`, which is the root or a member.
CommonAxes CommonAxesOf(const ScheduleWriter& writer, const StageGroup& group,
                        int depth, const StageRef& stage);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_RULES_ROOT_AXES_H_
