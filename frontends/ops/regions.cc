#include "frontends/ops/regions.h"

#include <limits>
#include <string>

namespace ember::ops {
namespace {

// Reshapes [regions] to [regions, 1, …] of rank `rank`.
Tensor PerRegion(Tensor vector, int rank) { return AlongAxis(vector, 0, rank); }

// Returns bool [regions, bins, extent] for one axis: true if the element
// belongs to the bin. `first` and `last`: rounded corners of the regions.
Tensor BinMembers(const Dim& extent, int64_t bins, Tensor first, Tensor last) {
  const DType type = first.dtype();
  graph::GraphBuilder& builder = first.builder();
  Tensor number = AlongAxis(IotaVector(builder, Dim(bins), type), 1, 3);
  Tensor element = AlongAxis(IotaVector(builder, extent, type), 2, 3);
  Tensor size = Maximum(last - first + 1.0, 1) / static_cast<double>(bins);
  Tensor low = Floor(number * PerRegion(size, 3)) + PerRegion(first, 3);
  Tensor high = Ceil((number + 1.0) * PerRegion(size, 3)) + PerRegion(first, 3);
  return And(LessEqual(low, element), Less(element, high));
}

// Returns the largest element of each bin, [r, c, a, b], for values [r, c, a,
// n] and members [r, b, n] (bool: element n belongs to bin b).
Tensor LargestMember(Tensor values, Tensor members) {
  Tensor lowest = values.Like(-std::numeric_limits<double>::infinity());
  return Reduce(
      Select(Unsqueeze(members, {1, 2}), Unsqueeze(values, {3}), lowest),
      "maximum", {4}, false);
}

}  // namespace

Tensor RoundAway(Tensor x) {
  return Select(Less(x, 0), Ceil(x - 0.5), Floor(x + 0.5));
}

Tensor Column(Tensor rows, int index) {
  return Squeeze(SliceAxis(rows, 1, Dim(index), Dim(1)), {1});
}

Tensor MaxRoiPool(Tensor x, Tensor rois, const RoiPoolSpec& spec) {
  // Each row of `rois` is (image, x1, y1, x2, y2); `corner` reads one column.
  auto corner = [&](int column) {
    return RoundAway(Column(rois, column) * spec.scale);
  };
  Tensor rows = BinMembers(x.dim(2), spec.bins[0], corner(2), corner(4));
  Tensor columns = BinMembers(x.dim(3), spec.bins[1], corner(1), corner(3));
  Tensor maps = Gather(x, Cast(Column(rois, 0), DType::kI64), 0);
  Tensor pooled_rows =
      // Reduces the rows of the map first. The result is [r, c, w, p]: region,
      // channel, column of the map, row of bins.
      LargestMember(Transpose(maps, {0, 1, 3, 2}), rows);
  Tensor y = LargestMember(Transpose(pooled_rows, {0, 1, 3, 2}), columns);
  // A bin without elements has the maximum -infinity, which becomes 0.
  auto is_empty = [](Tensor members) {
    return Not(Reduce(members, "maximum", {2}, false));
  };
  Tensor empty =
      Or(Unsqueeze(is_empty(rows), {2}), Unsqueeze(is_empty(columns), {1}));
  return Select(Unsqueeze(empty, {1}), y.Like(0), y);
}

Tensor NonMaxSuppression(Tensor boxes, Tensor scores, Tensor overlap,
                         Tensor least, const Dim& most) {
  const Tensor thresholds =
      Concat({Reshape(overlap, {Dim(1)}), Reshape(least, {Dim(1)})}, 0);
  graph::GraphBuilder& builder = boxes.builder();
  if (!builder.status().ok()) return boxes;
  return Apply("non_max_suppression", {boxes, scores, thresholds},
               {{"defines", Shape{builder.FreshSymbol()}},
                {"most", Shape{most}},
                {"centered", int64_t{0}}});
}

}  // namespace ember::ops
