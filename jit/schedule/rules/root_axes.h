// Maps the axes of a group's root (its last stage) to those of its members.
#ifndef EMBER_JIT_SCHEDULE_RULES_ROOT_AXES_H_
#define EMBER_JIT_SCHEDULE_RULES_ROOT_AXES_H_

#include <optional>
#include <vector>

#include "jit/schedule/core/steps.h"
#include "jit/schedule/rules/schedule_writer.h"
#include "jit/schedule/rules/stage_groups.h"

namespace ember::schedule {

// Says which axis of a group's root is equal to each axis of a member: both
// index the same points. For a product that is stored transposed
//
//   %conv[i0, i1, i2]  = sum(k < 32) %x[i0, i1, k] * %w[k, i2]
//   %y[j0, j1, j2, j3] = max(%conv[j0, j2, j1], 0.0)     for j3 < 1
//
// `axes` is {"j0", "j2", "j1"} and `others` is {"j3"}. Axes with one point in
// both stages are matched in their order.
struct RootAxes {
  // For each spatial axis of the member: the root's axis that is equal to it.
  // nullopt if there is none, because the root always reads the same index of
  // that axis.
  std::vector<std::optional<LoopRef>> axes;
  // The root's axes that are equal to no axis of the member. Each of them has
  // one point.
  std::vector<LoopRef> others;
};

// Returns the axes of the root that are equal to those of the member. Returns
// nullopt if two axes of the member are equal to the same axis of the root, or
// if an axis of the root with several points is equal to none of the member's.
std::optional<RootAxes> RootAxesOf(const ScheduleWriter& writer,
                                   const StageGroup& group,
                                   const StageRef& member);

// Returns the axis of the member that is equal to `root_axis`, an axis of the
// root; nullopt if there is none. If `root_axis` is nullopt, returns the
// member's first axis that is equal to no axis of the root.
std::optional<LoopRef> AxisOfMember(const ScheduleWriter& writer,
                                    const StageGroup& group,
                                    const StageRef& member,
                                    const std::optional<LoopRef>& root_axis);

// The axes that a stage of a group has in common with the others: those that
// are equal to the first `depth` axes of the root. `is_common`: for each of the
// stage's spatial axes, true if it is one of them. It may be false for an axis
// with one point.
struct CommonAxes {
  std::vector<bool> is_common;
  // number of the stage's axis that is equal to axis depth - 1 of the root; -1
  // if there is none
  int rows = -1;

  bool IsCommon(int axis) const {
    return axis < static_cast<int>(is_common.size()) &&
           is_common[static_cast<size_t>(axis)];
  }
};

// Finds the axes of `stage`, the root or a member, that the group's stages have
// in common.
CommonAxes CommonAxesOf(const ScheduleWriter& writer, const StageGroup& group,
                        int depth, const StageRef& stage);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_RULES_ROOT_AXES_H_
