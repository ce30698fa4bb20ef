// MaxRoiPool: the largest element of each bin of a region (Girshick 2015, "Fast
// R-CNN").
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "frontends/onnx/operator_table.h"
#include "frontends/ops/compositions.h"
#include "frontends/ops/dims.h"

namespace ember::onnx {
namespace {

// Column `index` of the regions, [regions].
Tensor Column(Tensor rois, int index) {
  return Squeeze(SliceAxis(rois, 1, Dim(index), Dim(1)), {1});
}

// [regions] as [regions, 1, …] of rank `rank`.
Tensor PerRegion(Tensor vector, int rank) { return AlongAxis(vector, 0, rank); }

// Nearest integer, halves away from zero.
Tensor RoundAway(Tensor x) {
  return Select(Less(x, 0), Ceil(x - 0.5), Floor(x + 0.5));
}

// Which elements of one axis are in each bin, [regions, bins, extent].
Tensor BinMembers(NodeContext& c, const Dim& extent, int64_t bins, Tensor first,
                  Tensor last) {
  const DType type = first.dtype();
  Tensor number = AlongAxis(IotaVector(c.builder(), Dim(bins), type), 1, 3);
  Tensor element = AlongAxis(IotaVector(c.builder(), extent, type), 2, 3);
  Tensor size = Maximum(last - first + 1.0, 1) / static_cast<double>(bins);
  Tensor low = Floor(number * PerRegion(size, 3)) + PerRegion(first, 3);
  Tensor high = Ceil((number + 1.0) * PerRegion(size, 3)) + PerRegion(first, 3);
  return And(LessEqual(low, element), Less(element, high));
}

// The largest of the members of each bin: [r, c, a, n] and [r, b, n].
Tensor LargestMember(Tensor values, Tensor members) {
  Tensor lowest = values.Like(-std::numeric_limits<double>::infinity());
  return Reduce(
      Select(Unsqueeze(members, {1, 2}), Unsqueeze(values, {3}), lowest),
      "maximum", {4}, false);
}

void ImportMaxRoiPool(NodeContext& c) {
  if (!c.CheckRank(0, 4, 4) || !c.CheckRank(1, 2, 2)) return;
  const std::optional<std::vector<int64_t>> bins = c.Integers("pooled_shape");
  if (!bins || bins->size() != 2 || (*bins)[0] < 1 || (*bins)[1] < 1) {
    return c.FailInvalid(
        "attribute 'pooled_shape': expected two positive numbers");
  }
  const DType result_type = c.Input(0).dtype();
  const DType type = ComputeType(result_type);
  Tensor x = Cast(c.Input(0), type);
  Tensor rois = WithDim(Cast(c.Input(1), type), 1, Dim(5));
  if (rois.dim(1) != Dim(5)) {
    return c.FailInvalid(
        "rois (input 1): expected 5 numbers per region, found " +
        rois.dim(1).ToString());
  }
  // batch, x1, y1, x2, y2
  const double scale = c.Float("spatial_scale", 1);
  auto corner = [&](int column) {
    return RoundAway(Column(rois, column) * scale);
  };
  Tensor rows = BinMembers(c, x.dim(2), (*bins)[0], corner(2), corner(4));
  Tensor columns = BinMembers(c, x.dim(3), (*bins)[1], corner(1), corner(3));
  Tensor maps = Gather(x, Cast(Column(rois, 0), DType::kI64), 0);
  Tensor pooled_rows =
      LargestMember(Transpose(maps, {0, 1, 3, 2}), rows);  // [r, c, w, p]
  Tensor y = LargestMember(Transpose(pooled_rows, {0, 1, 3, 2}), columns);
  // Bins without elements are 0.
  auto is_empty = [](Tensor members) {
    return Not(Reduce(members, "maximum", {2}, false));
  };
  Tensor empty =
      Or(Unsqueeze(is_empty(rows), {2}), Unsqueeze(is_empty(columns), {1}));
  c.SetOutput(0,
              Cast(Select(Unsqueeze(empty, {1}), y.Like(0), y), result_type));
}

constexpr OperatorRow kRows[] = {
    {"MaxRoiPool", 1, 2, 2, ImportMaxRoiPool},
};

}  // namespace

std::span<const OperatorRow> RoiPoolingOperators() { return kRows; }

}  // namespace ember::onnx
