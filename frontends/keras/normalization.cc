// Imports normalisations, as they compute outside of training. Statistics of
// narrow floats are computed in f32.
#include "frontends/ops/normalization.h"

#include <algorithm>
#include <string>
#include <vector>

#include "frontends/keras/layer_table.h"
#include "frontends/ops/dims.h"

namespace ember::keras {
namespace {

std::vector<int64_t> AxesOf(LayerContext& c, int rank) {
  const std::vector<int64_t> given = c.config().IntegerList("axis");
  return c.Axes(given.empty() ? std::vector<int64_t>{-1} : given, rank);
}

// Reshapes a parameter so that it has x's dims along `axes`, and 1 along the
// others.
Tensor AlongAxes(Tensor parameter, const std::vector<int64_t>& axes, Tensor x) {
  if (parameter.rank() == x.rank()) return parameter;
  if (axes.size() == 1 && parameter.rank() == 1)
    return AlongAxis(parameter, static_cast<int>(axes[0]), x.rank());
  Shape shape(static_cast<size_t>(x.rank()), Dim(1));
  for (const int64_t axis : axes)
    shape[static_cast<size_t>(axis)] = x.dim(static_cast<int>(axis));
  return Reshape(parameter, shape);
}

Tensor Scaled(LayerContext& c, Tensor normal,
              const std::vector<int64_t>& axes) {
  const DType type = normal.dtype();
  if (c.config().Flag("scale", true))
    normal = normal * AlongAxes(Cast(c.Weight("gamma"), type), axes, normal);
  if (c.config().Flag("center", true))
    normal = normal + AlongAxes(Cast(c.Weight("beta"), type), axes, normal);
  return normal;
}

}  // namespace

void ImportBatchNormalization(LayerContext& c) {
  if (!c.CheckRank(0, 1)) return;
  if (c.config().Flag("renorm", false))
    return c.FailUnsupported("renorm: expected false, found true");
  const Tensor x = c.Input(0);
  const std::vector<int64_t> axes = AxesOf(c, x.rank());
  const DType type = ComputeType(x.dtype());
  const Tensor mean = Cast(c.Weight("moving_mean"), type);
  Tensor scale = 1.0 / Sqrt(Cast(c.Weight("moving_variance"), type) +
                            c.config().Number("epsilon", 1e-3));
  // The parameters are first combined to a factor a and an offset b per
  // channel, so that only x * a + b is computed per element.
  if (c.config().Flag("scale", true))
    scale = scale * Cast(c.Weight("gamma"), type);
  Tensor shift = -(mean * scale);
  if (c.config().Flag("center", true))
    shift = shift + Cast(c.Weight("beta"), type);
  if (!c.ok()) return;
  c.SetOutput(Cast(
      Cast(x, type) * AlongAxes(scale, axes, x) + AlongAxes(shift, axes, x),
      x.dtype()));
}

void ImportLayerNormalization(LayerContext& c) {
  if (!c.CheckRank(0, 1)) return;
  const Tensor x = c.Input(0);
  const std::vector<int64_t> axes = AxesOf(c, x.rank());
  if (!c.ok()) return;
  const DType type = ComputeType(x.dtype());
  const Tensor wide = Cast(x, type);
  const double epsilon = c.config().Number("epsilon", 1e-3);
  Tensor normal;
  if (c.config().Flag("rms_scaling", false)) {
    // If rms_scaling is set, x is divided by its standard deviation without
    // subtracting the mean.
    const Tensor mean = ops::CorrectedMean(wide, axes);
    normal = wide / Sqrt(ops::Variance(wide, mean, axes) + epsilon);
    normal = normal * AlongAxes(Cast(c.Weight("gamma"), type), axes, normal);
    return c.SetOutput(Cast(normal, x.dtype()));
  }
  normal = ops::Standardized(wide, axes, epsilon);
  c.SetOutput(Cast(Scaled(c, normal, axes), x.dtype()));
}

void ImportRMSNormalization(LayerContext& c) {
  if (!c.CheckRank(0, 1)) return;
  const Tensor x = c.Input(0);
  const std::vector<int64_t> axes = AxesOf(c, x.rank());
  if (!c.ok()) return;
  const DType type = ComputeType(x.dtype());
  const Tensor wide = Cast(x, type);
  const Tensor normal = wide / Sqrt(Mean(wide * wide, axes, true) +
                                    c.config().Number("epsilon", 1e-6));
  c.SetOutput(
      Cast(normal * AlongAxes(Cast(c.Weight("scale"), type), axes, normal),
           x.dtype()));
}

void ImportGroupNormalization(LayerContext& c) {
  if (!c.CheckRank(0, 2)) return;
  const Tensor x = c.Input(0);
  const int rank = x.rank();
  const int axis = c.Axis(c.config().Integer("axis", -1), rank);
  const Dim channels = x.dim(axis);
  int64_t groups = c.config().Integer("groups", 32);
  if (!c.ok()) return;
  if (axis == 0)
    return c.FailInvalid("axis: expected one of features, found 0");
  // `groups` of -1 means one group per channel.
  if (groups == -1) groups = channels.AsConstant().value_or(-1);
  if (!c.CheckPositive("groups", groups)) return;
  if (!ops::DivideElementCounts({channels}, {Dim(groups)})) {
    return c.FailInvalid("groups: expected a divisor of " +
                         channels.ToString() + " channels, found " +
                         std::to_string(groups));
  }
  const Tensor normal =
      ops::GroupStandardized(Cast(x, ComputeType(x.dtype())), axis, groups,
                             c.config().Number("epsilon", 1e-3));
  c.SetOutput(Cast(Scaled(c, normal, {axis}), x.dtype()));
}

void ImportUnitNormalization(LayerContext& c) {
  if (!c.CheckRank(0, 1)) return;
  const Tensor x = c.Input(0);
  const std::vector<int64_t> axes = AxesOf(c, x.rank());
  if (!c.ok()) return;
  const DType type = ComputeType(x.dtype());
  const Tensor wide = Cast(x, type);
  const Tensor sum = Reduce(wide * wide, "sum", axes, /*keep=*/true);
  c.SetOutput(Cast(wide / Sqrt(Maximum(sum, 1e-12)), x.dtype()));
}

}  // namespace ember::keras
