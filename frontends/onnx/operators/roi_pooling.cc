// MaxRoiPool: the largest element of each bin of a region (Girshick 2015, "Fast
// R-CNN").
#include <optional>
#include <string>
#include <vector>

#include "frontends/onnx/operators/families.h"
#include "frontends/ops/compositions.h"
#include "frontends/ops/regions.h"

namespace ember::onnx {
namespace {

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
  c.SetOutput(0, Cast(ops::MaxRoiPool(x, rois,
                                      {.bins = {(*bins)[0], (*bins)[1]},
                                       .scale = c.Float("spatial_scale", 1)}),
                      result_type));
}

constexpr OperatorRow kRows[] = {
    {"MaxRoiPool", 1, 2, 2, ImportMaxRoiPool},
};

}  // namespace

std::span<const OperatorRow> RoiPoolingOperators() { return kRows; }

}  // namespace ember::onnx
