// Normalisations and probabilities.
#include "frontends/ops/normalization.h"

#include <string>
#include <vector>

#include "frontends/caffe2/operator_table.h"
#include "frontends/ops/pooling.h"
#include "frontends/ops/windows.h"

namespace ember::caffe2 {
namespace {

std::vector<int64_t> AxesFrom(int first, int rank) {
  std::vector<int64_t> axes;
  for (int i = first; i < rank; ++i) axes.push_back(i);
  return axes;
}

}  // namespace

void ImportSpatialBN(OperatorContext& c) {
  if (!c.CheckRank(0, 2)) return;
  if (!c.Flag("is_test", false)) {
    return c.FailUnsupported(
        "is_test: expected 1, as in training each batch has its own "
        "statistics");
  }
  const Tensor x = c.Input(0);
  const int axis = c.ChannelsLast() ? x.rank() - 1 : 1;
  const DType type = ComputeType(x.dtype());
  for (int i = 1; i < 5; ++i)
    if (!c.CheckRank(i, 1, 1)) return;
  const Tensor scale = Cast(c.Input(1), type) /
                       Sqrt(Cast(c.Input(4), type) + c.Number("epsilon", 1e-5));
  const Tensor shift = Cast(c.Input(2), type) - Cast(c.Input(3), type) * scale;
  if (!c.ok()) return;
  c.SetOutput(Cast(Cast(x, type) * AlongAxis(scale, axis, x.rank()) +
                       AlongAxis(shift, axis, x.rank()),
                   x.dtype()));
}

void ImportAffineChannel(OperatorContext& c) {
  if (!c.CheckRank(0, 2)) return;
  const Tensor x = c.Input(0);
  const int axis = c.ChannelsLast() ? x.rank() - 1 : 1;
  c.SetOutput(x * c.PerChannel(1, axis, x.rank(), x.dtype()) +
              c.PerChannel(2, axis, x.rank(), x.dtype()));
}

void ImportInstanceNorm(OperatorContext& c) {
  if (!c.CheckRank(0, 3)) return;
  const Tensor x = c.Input(0);
  const int rank = x.rank();
  const bool last = c.ChannelsLast();
  const std::vector<int64_t> axes =
      AxesFrom(last ? 1 : 2, last ? rank - 1 : rank);
  const int channel = last ? rank - 1 : 1;
  const DType type = ComputeType(x.dtype());
  const Tensor y =
      ops::Standardized(Cast(x, type), axes, c.Number("epsilon", 1e-5));
  c.SetOutput(Cast(y * c.PerChannel(1, channel, rank, type) +
                       c.PerChannel(2, channel, rank, type),
                   x.dtype()));
}

// Imports GroupNorm, whose channels come first or last.
void ImportGroupNorm(OperatorContext& c) {
  if (!c.CheckRank(0, 2)) return;
  const Tensor x = c.Input(0);
  const int rank = x.rank();
  const bool last = c.ChannelsLast();
  const int channel = last ? rank - 1 : 1;
  const int64_t groups = c.Integer("group", 32);
  if (!c.CheckPositive("group", groups)) return;
  if (!ops::DivideElementCounts({x.dim(channel)}, {Dim(groups)})) {
    return c.FailInvalid("group: expected a divisor of " +
                         x.dim(channel).ToString() + ", found " +
                         std::to_string(groups));
  }
  const DType type = ComputeType(x.dtype());
  const Tensor y = ops::GroupStandardized(Cast(x, type), channel, groups,
                                          c.Number("epsilon", 1e-5));
  c.SetOutput(Cast(y * c.PerChannel(1, channel, rank, type) +
                       c.PerChannel(2, channel, rank, type),
                   x.dtype()));
}

// Imports LayerNorm. Mean and standard deviation are results, too, of shape
// [dims before the axis…, 1].
void ImportLayerNorm(OperatorContext& c) {
  if (!c.CheckRank(0, 1)) return;
  const Tensor x = c.Input(0);
  const int axis = c.AxisOf("axis", 1, x.rank());
  if (!c.ok()) return;
  const std::vector<int64_t> axes = AxesFrom(axis, x.rank());
  const DType type = ComputeType(x.dtype());
  const Tensor wide = Cast(x, type);
  const Tensor mean = ops::CorrectedMean(wide, axes);
  const Tensor deviation =
      Sqrt(ops::Variance(wide, mean, axes) + c.Number("epsilon", 1e-5));
  Tensor y = (wide - mean) / deviation;
  if (c.Flag("elementwise_affine", false)) {
    if (!c.CheckRank(1, 0) || !c.CheckRank(2, 0)) return;
    const Shape inner(x.shape().begin() + axis, x.shape().end());
    y = y * Reshape(Cast(c.Input(1), type), inner) +
        Reshape(Cast(c.Input(2), type), inner);
  }
  Shape outer(x.shape().begin(), x.shape().begin() + axis);
  outer.push_back(Dim(1));
  c.SetOutput(0, Cast(y, x.dtype()));
  c.SetOutput(1, Cast(Reshape(mean, outer), x.dtype()));
  c.SetOutput(2, Cast(Reshape(deviation, outer), x.dtype()));
}

// Imports LRN, which divides x by a power of the sum of the squares of the
// channels around each channel.
void ImportLRN(OperatorContext& c) {
  if (!c.CheckRank(0, 4, 4)) return;
  const Tensor x = c.Input(0);
  const int64_t size = c.Integer("size", 0);
  if (!c.CheckPositive("size", size)) return;
  ops::Window window = ops::WindowOf({size});
  window.low = {Dim((size - 1) / 2)};
  window.high = {Dim(size - 1 - (size - 1) / 2)};
  const Tensor sum =
      ops::ReduceWindow(x * x, "sum", window, c.ChannelsLast() ? 3 : 1);
  const Tensor scale =
      sum * (c.Number("alpha", 0) / static_cast<double>(size)) +
      c.Number("bias", 1);
  c.SetOutput(0, x * Power(scale, -c.Number("beta", 0)));
  c.SetOutput(1, scale);
}

// Imports Normalize: divides x by its L2 norm along an axis.
void ImportNormalize(OperatorContext& c) {
  if (!c.CheckRank(0, 1)) return;
  const Tensor x = c.Input(0);
  const int axis = c.AxisOf("axis", -1, x.rank());
  if (!c.ok()) return;
  const Tensor length = Sqrt(Reduce(x * x, "sum", {axis}, /*keep=*/true));
  c.SetOutput(x / Maximum(length, 1e-12));
}
void ImportNormalizeL1(OperatorContext& c) {
  if (!c.CheckRank(0, 1)) return;
  const Tensor x = c.Input(0);
  const int axis = c.AxisOf("axis", -1, x.rank());
  if (!c.ok()) return;
  const Tensor sum = Reduce(Absolute(x), "sum", {axis}, /*keep=*/true);
  c.SetOutput(Select(Equal(sum, 0), x, x / sum));
}

// Imports Softmax, which normalises over all dims from the axis on.
void ImportSoftmax(OperatorContext& c) {
  if (!c.CheckRank(0, 1)) return;
  const Tensor x = c.Input(0);
  const int64_t otherwise = x.rank() > 1 ? 1 : 0;
  const int axis = c.AxisOf("axis", otherwise, x.rank());
  if (!c.ok()) return;
  c.SetOutput(axis == x.rank() - 1
                  ? Softmax(x, axis)
                  : Reshape(Softmax(AsRows(x, axis), 1), x.shape()));
}
void ImportLogSoftmax(OperatorContext& c) {
  if (!c.CheckRank(0, 1)) return;
  const Tensor x = c.Input(0);
  const int64_t otherwise = x.rank() > 1 ? 1 : 0;
  const int axis = c.AxisOf("axis", otherwise, x.rank());
  if (!c.ok()) return;
  c.SetOutput(Reshape(ops::LogSoftmax(AsRows(x, axis), 1), x.shape()));
}

}  // namespace ember::caffe2
