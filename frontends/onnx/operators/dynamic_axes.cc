#include "frontends/onnx/operators/dynamic_axes.h"

#include <string>
#include <vector>

#include "frontends/ops/compositions.h"

namespace ember::onnx {
namespace {

Tensor Range(Tensor like, int64_t count) {
  return IotaVector(like.builder(), Dim(count), DType::kI64);
}

// Compares each element of a with each element of b: returns i64 [rows,
// columns], 1 where a[row] equals b[column], else 0.
Tensor Matches(Tensor a, Tensor b) {
  return Cast(Equal(Unsqueeze(a, {1}), Unsqueeze(b, {0})), DType::kI64);
}

Tensor Element(Tensor values, int index) {
  return Reshape(SliceAxis(values, 0, Dim(index), Dim(1)), {});
}

}  // namespace

std::optional<Tensor> ReadDynamicAxes(NodeContext& c, int input, int rank) {
  if (!c.CheckRank(input, 0, 1)) return std::nullopt;
  Tensor axes = Cast(c.Input(input), DType::kI64);
  if (axes.rank() == 0) axes = Reshape(axes, {Dim(1)});
  if (!axes.dim(0).is_constant()) {
    // The number of axes is not known. ConstantIntegers reports that as an
    // error, which names the graph inputs that would have to be known.
    c.ConstantIntegers(input, "axes");
    return std::nullopt;
  }
  return CheckDynamicAxes(c, input, axes, rank);
}

std::optional<Tensor> CheckDynamicAxes(NodeContext& c, int input, Tensor axes,
                                       int rank) {
  const Dim& count = axes.dim(0);
  if (count.is_constant() && count.constant() > rank) {
    c.FailInvalid("axes (input " + std::to_string(input) +
                  "): expected at most " + std::to_string(rank) + ", found " +
                  count.ToString());
    return std::nullopt;
  }
  axes = Select(Less(axes, 0), axes + static_cast<double>(rank), axes);
  // The mask marks each dim that is an axis. It marks as many dims as there are
  // axes only if all axes are in range and different.
  const Tensor met = Reduce(AxisMask(axes, rank), "sum", {0}, /*keep=*/false);
  c.builder().Require(Equal(met, DimScalar(c.builder(), axes.dim(0))).value(),
                      "axes (input " + std::to_string(input) +
                          "): expected different ones from " +
                          std::to_string(-rank) + " to " +
                          std::to_string(rank - 1));
  if (!c.ok()) return std::nullopt;
  return axes;
}

Tensor AxisMask(Tensor axes, int rank) {
  const Tensor met = Reduce(Matches(axes, Range(axes, rank)), "sum", {0},
                            /*keep=*/false);
  return Minimum(met, 1);
}

AxisOrder AxesLast(Tensor axes, int rank) {
  const Tensor mask = AxisMask(axes, rank);
  const Tensor dims = Range(axes, rank);
  // For each dim, the number of dims before it that are axes.
  const Tensor before =
      Cast(Less(Unsqueeze(dims, {1}), Unsqueeze(dims, {0})), DType::kI64);
  const Tensor axes_before =
      Reduce(before * Unsqueeze(mask, {1}), "sum", {0}, /*keep=*/false);
  const double others =
      static_cast<double>(rank - axes.dim(0).AsConstant().value_or(0));
  AxisOrder order;
  order.place =
      Select(Equal(mask, 1), axes_before + others, dims - axes_before);
  // Invalid axes give indices out of range. These are clamped, so that the run
  // fails with the message of the check of the axes and not in a gather.
  order.source =
      Minimum(Reduce(Matches(order.place, dims) * Unsqueeze(dims, {1}), "sum",
                     {0}, /*keep=*/false),
              rank - 1.0);
  return order;
}

Tensor PermuteByData(NodeContext& c, Tensor x, Tensor permutation,
                     const std::optional<Shape>& shape) {
  // After an error the rank of x need not be that of `shape`, so nothing is
  // computed.
  if (!c.ok()) return x;
  const int rank = x.rank();
  Shape strides(static_cast<size_t>(rank), Dim(1));
  for (int i = rank - 2; i >= 0; --i)
    strides[i] = strides[i + 1] * x.dim(i + 1);
  const auto permuted = [&](const Shape& values) {
    return Gather(c.Wrap(c.builder().ShapeValue(values)), permutation, 0);
  };
  const std::optional<Shape> dims =
      shape ? shape : c.Sizes(permuted(x.shape()), "dims");
  if (!dims) return x;
  const Tensor steps = permuted(strides);
  Tensor position = c.Scalar(0, DType::kI64);
  for (int i = 0; i < rank; ++i) {
    position =
        position + AlongAxis(IotaVector(c.builder(), (*dims)[i], DType::kI64) *
                                 Element(steps, i),
                             i, rank);
  }
  return Gather(Reshape(x, {ElementCount(x.shape())}), position, 0);
}

Tensor SpreadOverDims(Tensor axes, Tensor values, Tensor otherwise, int rank) {
  const Tensor matches = Matches(axes, Range(axes, rank));
  const Tensor spread = Reduce(matches * Unsqueeze(values, {1}), "sum", {0},
                               /*keep=*/false);
  return Select(Equal(AxisMask(axes, rank), 1), spread, otherwise);
}

}  // namespace ember::onnx
