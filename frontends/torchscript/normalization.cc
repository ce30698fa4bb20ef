// Imports normalizations. Those that treat channels take inputs [N, C, …].
#include "frontends/ops/normalization.h"

#include <numeric>

#include "frontends/torchscript/operator_table.h"
#include "frontends/torchscript/promotion.h"

namespace ember::torchscript {
namespace {

// Returns y * weight + bias; weight and bias may be absent.
Tensor Affine(Tensor y, const Tensor& weight, const Tensor& bias) {
  if (weight) y = y * weight;
  return bias ? y + bias : y;
}
Tensor Channels(const Tensor& vector, const Tensor& like, int rank) {
  if (!vector) return vector;
  return ops::AlongAxis(ops::Cast(vector, like.dtype()), 1, rank);
}

Tensor RunBatchNorm(Call& c, const Tensor& given, bool of_input) {
  const Tensor weight = c.tensor("weight");
  const Tensor bias = c.tensor("bias");
  const double epsilon = c.number("eps");
  if (!c.CheckRank("input", given, 2)) return given;
  const Tensor x = ops::Cast(given, ComputeType(given.dtype()));
  const int rank = x.rank();
  Tensor y;
  if (of_input) {
    std::vector<int64_t> axes = {0};
    for (int i = 2; i < rank; ++i) axes.push_back(i);
    y = ops::Standardized(x, axes, epsilon);
  } else {
    const Tensor mean = Channels(c.tensor("running_mean"), x, rank);
    const Tensor variance = Channels(c.tensor("running_var"), x, rank);
    if (!c.ok()) return given;
    Tensor scale = 1.0 / ops::Sqrt(variance + epsilon);
    if (weight) scale = scale * Channels(weight, x, rank);
    y = (x - mean) * scale;
    if (bias) y = y + Channels(bias, x, rank);
    return ops::Cast(y, given.dtype());
  }
  if (!c.ok()) return given;
  y = Affine(y, Channels(weight, x, rank), Channels(bias, x, rank));
  return ops::Cast(y, given.dtype());
}
Tensor BatchNorm(Call& c) {
  const bool of_input =
      c.flag("training") || !c.has("running_mean") || !c.has("running_var");
  return RunBatchNorm(c, c.tensor("input"), of_input);
}

// Imports instance_norm, which normalizes each channel of each image by its own
// statistics or, without use_input_stats, by the running ones.
Tensor InstanceNorm(Call& c) {
  const Tensor x = c.tensor("input");
  if (!c.flag("use_input_stats")) return RunBatchNorm(c, x, false);
  if (!c.CheckRank("input", x, 3)) return x;
  const Tensor wide = ops::Cast(x, ComputeType(x.dtype()));
  std::vector<int64_t> axes;
  for (int i = 2; i < x.rank(); ++i) axes.push_back(i);
  const Tensor y = Affine(ops::Standardized(wide, axes, c.number("eps")),
                          Channels(c.tensor("weight"), wide, x.rank()),
                          Channels(c.tensor("bias"), wide, x.rank()));
  return c.ok() ? ops::Cast(y, x.dtype()) : x;
}

Tensor LayerNorm(Call& c) {
  const Tensor x = c.tensor("input");
  const Shape shape = c.dims("normalized_shape");
  Tensor weight = c.tensor("weight");
  Tensor bias = c.tensor("bias");
  if (!c.CheckRank("input", x, static_cast<int>(shape.size()))) return x;
  const Tensor wide = ops::Cast(x, ComputeType(x.dtype()));
  std::vector<int64_t> axes(shape.size());
  std::iota(axes.begin(), axes.end(),
            x.rank() - static_cast<int>(shape.size()));
  if (weight) weight = ops::Cast(weight, wide.dtype());
  if (bias) bias = ops::Cast(bias, wide.dtype());
  const Tensor y =
      Affine(ops::Standardized(wide, axes, c.number("eps")), weight, bias);
  return c.ok() ? ops::Cast(y, x.dtype()) : x;
}
Value NativeLayerNorm(Call& c) {
  const Tensor y = LayerNorm(c);
  const Value statistics = Value::Text(
      Value::Kind::kConflict,
      "the mean and deviation of native_layer_norm, which are not supported");
  return c.machine().NewTuple(
      {c.machine().NewTensor(y), statistics, statistics});
}

// Imports group_norm, which normalizes over the channels of a group and all
// dims after them.
Tensor GroupNorm(Call& c) {
  const Tensor x = c.tensor("input");
  const int64_t groups = c.integer("num_groups");
  if (!c.CheckRank("input", x, 2)) return x;
  if (groups < 1) {
    c.FailInvalid("num_groups: expected 1 or more, found " +
                  std::to_string(groups));
    return x;
  }
  const Tensor wide = ops::Cast(x, ComputeType(x.dtype()));
  if (!ops::DivideElementCounts({x.dim(1)}, {Dim(groups)})) {
    c.FailInvalid("num_groups: expected a divisor of " + x.dim(1).ToString() +
                  " channels, found " + std::to_string(groups));
    return x;
  }
  const Tensor y = ops::GroupStandardized(wide, 1, groups, c.number("eps"));
  return ops::Cast(Affine(y, Channels(c.tensor("weight"), wide, x.rank()),
                          Channels(c.tensor("bias"), wide, x.rank())),
                   x.dtype());
}

Tensor RmsNorm(Call& c) {
  const Tensor x = c.tensor("input");
  const Shape shape = c.dims("normalized_shape");
  if (!c.CheckRank("input", x, static_cast<int>(shape.size()))) return x;
  const Tensor wide = ops::Cast(x, ComputeType(x.dtype()));
  std::vector<int64_t> axes(shape.size());
  std::iota(axes.begin(), axes.end(),
            x.rank() - static_cast<int>(shape.size()));
  const double epsilon =
      c.has("eps") ? c.number("eps")
                   : (wide.dtype() == DType::kF64 ? 2.220446049250313e-16
                                                  : 1.1920928955078125e-07);
  Tensor y = wide / ops::Sqrt(ops::Mean(wide * wide, axes, true) + epsilon);
  if (c.has("weight")) y = y * ops::Cast(c.tensor("weight"), wide.dtype());
  return ops::Cast(y, x.dtype());
}

// Imports cosine_similarity: the sum along an axis of the products of both
// operands, where each operand is divided by its norm.
Tensor CosineSimilarity(Call& c) {
  const DType type = FloatResultType(c, {"x1", "x2"});
  Tensor a = c.scalar("x1", type);
  Tensor b = c.scalar("x2", type);
  if (!BroadcastTogether(c, a, b)) return a;
  const int axis = c.axis("dim", a.rank());
  const double epsilon = c.number("eps");
  if (!c.CheckRank("x1", a, 1)) return a;
  const Tensor product = a * b;
  const auto norm = [&](const Tensor& x) {
    return ops::Maximum(ops::Sqrt(ops::Reduce(x * x, "sum", {axis}, false)),
                        epsilon);
  };
  return ops::Reduce(product, "sum", {axis}, false) / (norm(a) * norm(b));
}

constexpr OperatorRow kRows[] = {
    {"batch_norm(Tensor input, Tensor? weight, Tensor? bias, "
     "Tensor? running_mean, Tensor? running_var, bool training, "
     "float momentum, float eps, bool cudnn_enabled)",
     BatchNorm},
    {"instance_norm(Tensor input, Tensor? weight, Tensor? bias, "
     "Tensor? running_mean, Tensor? running_var, bool use_input_stats, "
     "float momentum, float eps, bool cudnn_enabled)",
     InstanceNorm},
    {"layer_norm(Tensor input, int[] normalized_shape, Tensor? weight=None, "
     "Tensor? bias=None, float eps=1e-05, bool cudnn_enable=True)",
     LayerNorm},
    {"native_layer_norm(Tensor input, int[] normalized_shape, Tensor? weight, "
     "Tensor? bias, float eps)",
     NativeLayerNorm},
    {"group_norm(Tensor input, int num_groups, Tensor? weight=None, "
     "Tensor? bias=None, float eps=1e-05, bool cudnn_enabled=True)",
     GroupNorm},
    {"rms_norm(Tensor input, int[] normalized_shape, Tensor? weight=None, "
     "float? eps=None)",
     RmsNorm},
    {"cosine_similarity(Tensor x1, Tensor x2, int dim=1, float eps=1e-08)",
     CosineSimilarity},
};

}  // namespace

std::span<const OperatorRow> NormalizationRows() { return kRows; }

}  // namespace ember::torchscript
