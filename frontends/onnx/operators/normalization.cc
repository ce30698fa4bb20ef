// Imports normalizations. BatchNormalization is in inference form unless the
// node is in training mode. Statistics of narrow floats are computed in f32, or
// in the type that stash_type names.
#include "frontends/ops/normalization.h"

#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "frontends/onnx/operators/families.h"
#include "frontends/ops/compositions.h"
#include "frontends/ops/dims.h"

namespace ember::onnx {
namespace {

// Returns all axes from `first` on.
std::vector<int64_t> AxesFrom(int first, int rank) {
  std::vector<int64_t> axes(std::max(rank - first, 0));
  std::iota(axes.begin(), axes.end(), first);
  return axes;
}

// Reshapes a parameter so that it broadcasts against a tensor of rank `rank`. A
// vector has one element per channel (dim 1). A parameter of another rank has
// one element for each element of a sample.
Tensor PerChannel(Tensor vector, int rank, DType type) {
  if (vector.rank() != 1) return Cast(Unsqueeze(vector, {0}), type);
  return rank < 2 ? Cast(vector, type) : Cast(AlongAxis(vector, 1, rank), type);
}

// Gives x and all vectors the same number of channels: if any of these extents
// is known, the open ones are assumed to equal it.
void AgreeOnChannels(Tensor& x, const std::vector<Tensor*>& vectors) {
  if (x.rank() < 2) return;
  Dim channels = x.dim(1);
  for (const Tensor* vector : vectors) {
    if (vector->rank() == 1 && vector->dim(0).is_constant() &&
        !channels.is_constant())
      channels = vector->dim(0);
  }
  x = WithDim(x, 1, channels);
  for (Tensor* vector : vectors) {
    if (vector->rank() == 1) *vector = WithDim(*vector, 0, channels);
  }
}

bool CheckVector(NodeContext& c, int input) { return c.CheckRank(input, 1, 1); }

// Folds the statistics into a scale and a shift per channel, so that only x * a
// + b remains to be computed at run time.
Tensor ScaleAndShift(NodeContext& c, Tensor x, Tensor factor, Tensor offset,
                     Tensor mean, Tensor variance) {
  const DType type = ComputeType(x.dtype());
  Tensor scale = Cast(factor, type) /
                 Sqrt(Cast(variance, type) + c.Float("epsilon", 1e-5));
  Tensor shift = Cast(offset, type) - Cast(mean, type) * scale;
  return Cast(Cast(x, type) * PerChannel(scale, x.rank(), type) +
                  PerChannel(shift, x.rank(), type),
              x.dtype());
}

void ImportBatchNormalization(NodeContext& c) {
  Tensor x = c.Input(0);
  if (!c.CheckRank(0, 1)) return;
  // The attribute `spatial` = 0, up to opset 8, means statistics for every
  // element of a sample instead of for every channel.
  const bool spatial = c.opset() >= 9 || c.Integer("spatial", 1) != 0;
  for (int i = 1; i < 5; ++i) {
    const int rank = spatial ? 1 : x.rank() - 1;
    if (!c.CheckRank(i, rank, rank)) return;
  }
  Tensor factor = c.Input(1);
  Tensor offset = c.Input(2);
  Tensor mean = c.Input(3);
  Tensor variance = c.Input(4);
  AgreeOnChannels(x, {&factor, &offset, &mean, &variance});
  // Before opset 14, a BatchNormalization with more than one output is in
  // training mode.
  const bool training =
      c.opset() >= 14 ? c.Integer("training_mode", 0) != 0 : c.WantsOutput(1);
  if (!training)
    return c.SetOutput(0, ScaleAndShift(c, x, factor, offset, mean, variance));

  std::vector<int64_t> axes = AxesFrom(spatial ? 1 : x.rank(), x.rank());
  // The mean of statistics per channel is over all axes except dim 1. The mean
  // of statistics per element of a sample is over the batch (axis 0) alone.
  if (axes.empty()) axes.push_back(0);
  axes.front() = 0;
  const DType type = ComputeType(x.dtype());
  Tensor wide = Cast(x, type);
  Tensor batch_mean = Mean(wide, axes, true);
  Tensor batch_variance =
      Reshape(ops::Variance(wide, batch_mean, axes), variance.shape());
  batch_mean = Reshape(batch_mean, mean.shape());
  const double momentum = c.Float("momentum", 0.9);
  auto running = [&](Tensor old, Tensor batch) {
    return Cast(Cast(old, type) * momentum + batch * (1 - momentum),
                old.dtype());
  };
  c.SetOutput(0,
              ScaleAndShift(c, x, factor, offset, batch_mean, batch_variance));
  c.SetOutput(1, running(mean, batch_mean));
  c.SetOutput(2, running(variance, batch_variance));
  // Outputs 3 and 4, which exist up to opset 13, are the statistics of the
  // batch, which training uses for the gradient.
  c.SetOutput(3, Cast(batch_mean, mean.dtype()));
  c.SetOutput(4, Cast(batch_variance, variance.dtype()));
}

void ImportInstanceNormalization(NodeContext& c) {
  if (!c.CheckRank(0, 3) || !CheckVector(c, 1) || !CheckVector(c, 2)) return;
  Tensor x = c.Input(0);
  Tensor factor = c.Input(1);
  Tensor offset = c.Input(2);
  AgreeOnChannels(x, {&factor, &offset});
  const DType type = ComputeType(x.dtype());
  Tensor normal =
      ops::Standardized(Cast(x, type), AxesFrom(2, x.rank()),
                        c.Float("epsilon", 1e-5), ops::MeanKind::kPlain);
  Tensor y = normal * PerChannel(factor, x.rank(), type) +
             PerChannel(offset, x.rank(), type);
  c.SetOutput(0, Cast(y, x.dtype()));
}

// Returns the element type in which statistics are computed ("stash_type").
DType StashType(NodeContext& c, DType type) {
  const std::optional<DType> stash = c.TypeAttribute("stash_type");
  return stash.value_or(type == DType::kF64 ? type : DType::kF32);
}

void ImportLayerNormalization(NodeContext& c) {
  if (!c.CheckRank(0, 1)) return;
  Tensor x = c.Input(0);
  const DType type = StashType(c, x.dtype());
  const int axis = c.Axis(c.Integer("axis", -1), x.rank());
  const std::vector<int64_t> axes = AxesFrom(axis, x.rank());
  Tensor wide = Cast(x, type);
  Tensor mean = ops::CorrectedMean(wide, axes);
  Tensor centered = wide - mean;
  Tensor deviation =
      Sqrt(Mean(centered * centered, axes, true) + c.Float("epsilon", 1e-5));
  // Models that an optimizer has fused may have data in f16 but a scale in f32.
  // The result then has the type of the scale.
  Tensor y = Cast(Cast(centered / deviation, x.dtype()), c.Input(1).dtype()) *
             c.Input(1);
  c.SetOutput(0, c.Input(2) ? y + c.Input(2) : y);
  if (c.WantsOutput(1)) c.SetOutput(1, mean);
  if (c.WantsOutput(2)) c.SetOutput(2, 1.0 / deviation);
}

void ImportRmsNormalization(NodeContext& c) {
  if (!c.CheckRank(0, 1)) return;
  Tensor x = c.Input(0);
  const DType type = StashType(c, x.dtype());
  const int axis = c.Axis(c.Integer("axis", -1), x.rank());
  Tensor wide = Cast(x, type);
  Tensor square = Mean(wide * wide, AxesFrom(axis, x.rank()), true);
  Tensor deviation = Sqrt(square + c.Float("epsilon", 1e-5));
  Tensor normal = Cast(wide / deviation, x.dtype());
  c.SetOutput(0, Cast(normal, c.Input(1).dtype()) * c.Input(1));
  if (c.WantsOutput(1)) c.SetOutput(1, 1.0 / deviation);
}

void ImportGroupNormalization(NodeContext& c) {
  if (!c.CheckRank(0, 3) || !CheckVector(c, 1) || !CheckVector(c, 2)) return;
  Tensor x = c.Input(0);
  const int64_t groups = c.Integer("num_groups", 0);
  if (groups < 1)
    return c.FailInvalid("attribute 'num_groups': expected at least 1");
  const DType type = StashType(c, x.dtype());
  const Dim members = FloorDivide(x.dim(1), Dim(groups));
  Tensor normal =
      ops::GroupStandardized(Cast(x, type), 1, groups, c.Float("epsilon", 1e-5),
                             ops::MeanKind::kPlain);
  // GroupNormalization of opset 18 has one scale and bias per group, that of
  // opset 21 and later one per channel. The length of the vector decides, if it
  // is known.
  auto parameter = [&](Tensor vector) {
    const bool per_group =
        vector.dim(0).is_constant()
            ? vector.dim(0) == Dim(groups) && x.dim(1) != Dim(groups)
            : vector.dim(0) != x.dim(1) && c.opset() < 21;
    if (per_group) {
      vector = WithDim(vector, 0, Dim(groups));
      Tensor repeated =
          Broadcast(Unsqueeze(vector, {1}), {Dim(groups), members});
      vector = Reshape(repeated, {x.dim(1)});
    }
    vector = WithDim(vector, 0, x.dim(1));
    return PerChannel(vector, x.rank(), x.dtype());
  };
  c.SetOutput(0, Cast(normal, x.dtype()) * parameter(c.Input(1)) +
                     parameter(c.Input(2)));
}

void ImportLrn(NodeContext& c) {
  if (!c.CheckRank(0, 3)) return;
  Tensor x = c.Input(0);
  const int64_t size = c.Integer("size", 0);
  if (size < 1) return c.FailInvalid("attribute 'size': expected at least 1");
  const DType type = ComputeType(x.dtype());
  Tensor wide = Cast(x, type);
  const int rank = x.rank();
  std::vector<int64_t> window(rank, 1);
  Shape low(rank, Dim(0));
  Shape high(rank, Dim(0));
  window[1] = size;
  low[1] = Dim((size - 1) / 2);
  high[1] = Dim(size / 2);
  Tensor squares = Apply("reduce_window", {wide * wide},
                         {{"combiner", std::string("sum")},
                          {"window", window},
                          {"strides", std::vector<int64_t>(rank, 1)},
                          {"dilations", std::vector<int64_t>(rank, 1)},
                          {"low", low},
                          {"high", high}});
  const double alpha = c.Float("alpha", 1e-4) / static_cast<double>(size);
  Tensor base = squares * alpha + c.Float("bias", 1.0);
  c.SetOutput(0, Cast(wide / Power(base, c.Float("beta", 0.75)), x.dtype()));
}

void ImportMeanVarianceNormalization(NodeContext& c) {
  Tensor x = c.Input(0);
  std::vector<int64_t> otherwise = {0, 2, 3};
  // Before opset 9 the operator was experimental: it had the attribute
  // across_channels instead of axes.
  if (c.Integer("across_channels", 0) != 0) otherwise.push_back(1);
  const std::vector<int64_t> axes =
      c.DistinctAxes(c.Integers("axes", otherwise), x.rank());
  if (!c.ok()) return;
  const DType type = ComputeType(x.dtype());
  Tensor wide = Cast(x, type);
  Tensor mean = Mean(wide, axes, true);
  if (c.Integer("normalize_variance", 1) == 0)
    return c.SetOutput(0, Cast(wide - mean, x.dtype()));
  c.SetOutput(
      0, Cast((wide - mean) / (Sqrt(ops::Variance(wide, mean, axes)) + 1e-9),
              x.dtype()));
}

void ImportLpNormalization(NodeContext& c) {
  if (!c.CheckRank(0, 1)) return;
  Tensor x = c.Input(0);
  const int axis = c.Axis(c.Integer("axis", -1), x.rank());
  const int64_t p = c.Integer("p", 2);
  if (p != 1 && p != 2) {
    return c.FailInvalid("attribute 'p': expected 1 or 2, found " +
                         std::to_string(p));
  }
  const DType type = ComputeType(x.dtype());
  Tensor wide = Cast(x, type);
  Tensor norm = p == 1 ? Reduce(Absolute(wide), "sum", {axis}, true)
                       : Sqrt(Reduce(wide * wide, "sum", {axis}, true));
  // LpNormalization leaves a vector of zeros as zeros instead of dividing by 0.
  Tensor zero = wide.Like(0);
  c.SetOutput(0, Cast(Select(Equal(norm, zero), zero, wide / norm), x.dtype()));
}

constexpr OperatorRow kRows[] = {
    {"BatchNormalization", 1, 5, 5, ImportBatchNormalization},
    {"GroupNormalization", 18, 3, 3, ImportGroupNormalization},
    {"InstanceNormalization", 1, 3, 3, ImportInstanceNormalization},
    {"LRN", 1, 1, 1, ImportLrn},
    // LayerNormalization officially exists from opset 17 on. The row accepts it
    // at any opset, as other engines do, because exporters of fused models rely
    // on that.
    {"LayerNormalization", 1, 2, 3, ImportLayerNormalization},
    {"LpNormalization", 1, 1, 1, ImportLpNormalization},
    {"MeanVarianceNormalization", 1, 1, 1, ImportMeanVarianceNormalization},
    {"RMSNormalization", 23, 2, 2, ImportRmsNormalization},
    // SimplifiedLayerNormalization is no operator of the specification: ONNX
    // Runtime's optimizer writes it into the default domain.
    {"SimplifiedLayerNormalization", 1, 2, 2, ImportRmsNormalization},
    {"SimplifiedLayerNormalization", 1, 2, 2, ImportRmsNormalization,
     "com.microsoft"},
};

}  // namespace

std::span<const OperatorRow> NormalizationOperators() { return kRows; }

}  // namespace ember::onnx
