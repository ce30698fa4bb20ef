// Imports DeformConv: a convolution that reads its window elements at computed
// offsets.
#include "frontends/ops/deform_conv.h"

#include <optional>
#include <utility>
#include <vector>

#include "frontends/onnx/operators/families.h"
#include "frontends/onnx/operators/windows.h"
#include "frontends/ops/dims.h"

namespace ember::onnx {
namespace {

void ImportDeformConv(NodeContext& c) {
  const Tensor x = c.Input(0), w = c.Input(1);
  const int rank = x.rank();
  if (!c.CheckRank(0, 3) || !c.CheckRank(1, rank, rank) ||
      !c.CheckRank(2, rank, rank))
    return;
  const std::optional<std::vector<int64_t>> kernel =
      AsConstants(Shape(w.shape().begin() + 2, w.shape().end()));
  if (!kernel) {
    return c.FailUnsupported("weights (input 1): expected a constant shape");
  }
  if (c.Integers("kernel_shape", *kernel) != *kernel) {
    return c.FailInvalid(
        "attribute 'kernel_shape' differs from the weights' shape");
  }
  std::optional<Window> window =
      ReadWindow(c, *kernel, Shape(x.shape().begin() + 2, x.shape().end()));
  if (!window) return;
  const ops::DeformConvSpec spec{.window = *std::move(window),
                                 .groups = c.Integer("group", 1),
                                 .offset_groups = c.Integer("offset_group", 1)};
  if (spec.groups < 1 || spec.offset_groups < 1 || spec.groups > kMaxWindow ||
      spec.offset_groups > kMaxWindow) {
    return c.FailInvalid(
        "attributes 'group', 'offset_group': expected at least 1");
  }
  c.SetOutput(0, ops::DeformConv({.x = x,
                                  .w = w,
                                  .offsets = c.Input(2),
                                  .mask = c.Input(4),
                                  .bias = c.Input(3)},
                                 spec));
}

constexpr OperatorRow kRows[] = {
    {"DeformConv", 19, 3, 5, ImportDeformConv},
};

}  // namespace

std::span<const OperatorRow> DeformConvOperators() { return kRows; }

}  // namespace ember::onnx
