// Visits the points of a strip program as boxes, which have a range along each
// axis. The points are given as one flat range for each segment, a list of the
// program's axes.
//
//   WalkBoxes(program, ranges, [&](const StripBox& box) {
//     ...                     // axis i from box.begin[i] to box.end[i] - 1
//     return true;            // false: stop
//   });
#ifndef EMBER_VM_INTERPRETER_STRIP_BOXES_H_
#define EMBER_VM_INTERPRETER_STRIP_BOXES_H_

#include <algorithm>
#include <cstdint>
#include <span>

#include "vm/interpreter/strip_program.h"

namespace ember::vm {

struct StripBox {
  int64_t begin[kMaxAxes];
  int64_t end[kMaxAxes];
};

// Splits the flat range of each segment (list of axes) into a few boxes, and
// visits each combination of one box per segment.
template <typename Visit>
class BoxWalker {
 public:
  BoxWalker(const StripProgram& program, std::span<const FlatRange> ranges,
            Visit& visit)
      : program_(program), ranges_(ranges), visit_(visit) {
    for (size_t i = 0; i < program.axes.size(); ++i) {
      box_.begin[i] = 0;
      box_.end[i] = program.axes[i].extent;
    }
  }

  void RunSegment(int segment, int first_axis) {
    if (segment == program_.segment_count) {
      goes_on_ = visit_(static_cast<const StripBox&>(box_));
      return;
    }
    int last = first_axis;
    while (last < program_.spatial_count &&
           program_.axes[last].segment == segment)
      ++last;
    const FlatRange range = ranges_[segment];
    const int count = last - first_axis;
    if (count == 0) {
      if (range.begin < range.end) RunSegment(segment + 1, last);
      return;
    }
    if (count == 1) {
      box_.begin[first_axis] = range.begin;
      box_.end[first_axis] = range.end;
      if (range.begin < range.end) RunSegment(segment + 1, last);
      return;
    }
    int64_t flat = range.begin;
    while (flat < range.end && goes_on_)
      flat += NextBox(segment, first_axis, last, flat);
  }

 private:
  // Visits the largest box that begins at position `flat` of the segment's flat
  // range. Returns the number of its points.
  int64_t NextBox(int segment, int first, int last, int64_t flat) {
    const int64_t left = ranges_[segment].end - flat;
    // for each axis, the number of points of the flat range between two
    // neighbouring indices of the axis
    int64_t inner[kMaxAxes];
    int64_t index[kMaxAxes];
    int64_t product = 1;
    int64_t rest = flat;
    for (int axis = last - 1; axis >= first; --axis) {
      inner[axis] = product;
      index[axis] = rest % program_.axes[axis].extent;
      rest /= program_.axes[axis].extent;
      product *= program_.axes[axis].extent;
    }
    // the outermost axis along which the rest of the range contains at least
    // one whole step from the current position
    int split = first;
    while (flat % inner[split] != 0 || left < inner[split]) ++split;
    for (int axis = first; axis < last; ++axis) {
      box_.begin[axis] = axis <= split ? index[axis] : 0;
      box_.end[axis] =
          axis < split ? index[axis] + 1 : program_.axes[axis].extent;
    }
    const int64_t steps = std::min(left / inner[split],
                                   program_.axes[split].extent - index[split]);
    box_.end[split] = box_.begin[split] + steps;
    RunSegment(segment + 1, last);
    return steps * inner[split];
  }

  const StripProgram& program_;
  const std::span<const FlatRange> ranges_;
  Visit& visit_;
  StripBox box_;
  bool goes_on_ = true;
};

// Calls visit(box) for the boxes of a program's segments. `ranges` has a flat
// range for each segment.
template <typename Visit>
void WalkBoxes(const StripProgram& program, std::span<const FlatRange> ranges,
               Visit visit) {
  BoxWalker<Visit>(program, ranges, visit).RunSegment(0, 0);
}

}  // namespace ember::vm

#endif  // EMBER_VM_INTERPRETER_STRIP_BOXES_H_
