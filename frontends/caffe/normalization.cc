// Imports normalisation layers, and the layers that scale and shift channels,
// which nets often place behind them.
#include "frontends/ops/normalization.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "frontends/caffe/layer_table.h"
#include "frontends/ops/pooling.h"
#include "frontends/ops/windows.h"

namespace ember::caffe {
namespace {

std::vector<int64_t> AxesBetween(int first, int last) {
  std::vector<int64_t> axes(static_cast<size_t>(std::max(last - first, 0)));
  std::iota(axes.begin(), axes.end(), first);
  return axes;
}

// Returns all axes except the axis of the channels.
std::vector<int64_t> AxesOfStatistics(int rank) {
  std::vector<int64_t> axes = AxesBetween(2, rank);
  axes.insert(axes.begin(), 0);
  return axes;
}

// Returns the extents of the dims of x to which a scale or bias applies:
// `num_axes` dims from `axis` on, or all from there if num_axes is -1; nullopt
// after an error.
std::optional<std::vector<int64_t>> Covered(LayerContext& c, const Tensor& x,
                                            int axis, int64_t num_axes) {
  const int64_t count = num_axes == -1 ? x.rank() - axis : num_axes;
  if (count < 0 || axis + count > x.rank()) {
    c.FailInvalid("num_axes: expected -1, or at most " +
                  std::to_string(x.rank() - axis) + ", found " +
                  std::to_string(num_axes));
    return std::nullopt;
  }
  return c.Extents(x, axis, axis + static_cast<int>(count));
}

// Appends dims of 1 to `factor`, so that it broadcasts to x with its first dim
// at `axis`.
Tensor AlignedTo(LayerContext& c, const Tensor& factor, int axis,
                 const Tensor& x) {
  Shape shape = factor.shape();
  if (axis + static_cast<int>(shape.size()) > x.rank()) {
    c.FailInvalid("expected a second bottom that fits into " +
                  graph::ShapeToString(x.shape()) + " from axis " +
                  std::to_string(axis) + " on, found " +
                  graph::ShapeToString(shape));
    return x;
  }
  // A factor that is a second bottom must have the first bottom's extents from
  // `axis` on: Caffe does not broadcast dims of 1.
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == x.dim(axis + static_cast<int>(i))) continue;
    c.FailInvalid("expected a second bottom of the extents of " +
                  graph::ShapeToString(x.shape()) + " from axis " +
                  std::to_string(axis) + " on, found " +
                  graph::ShapeToString(shape));
    return x;
  }
  while (axis + static_cast<int>(shape.size()) < x.rank())
    shape.push_back(Dim(1));
  return Reshape(factor, shape);
}

FillerParameter ConstantFiller(double value) {
  FillerParameter filler;
  filler.set_value(static_cast<float>(value));
  return filler;
}

}  // namespace

// Imports BatchNorm. Its blobs are the trained mean, the variance, and a number
// by which mean and variance are divided.
void ImportBatchNorm(LayerContext& c) {
  const BatchNormParameter& p = c.layer().batch_norm_param();
  const Tensor x = c.Input(0);
  if (!c.CheckRank(0, 1)) return;
  const int axis = x.rank() > 1 ? 1 : 0;
  if (p.has_use_global_stats() && !p.use_global_stats()) {
    if (!c.CheckRank(0, 2)) return;
    const std::vector<int64_t> axes = AxesOfStatistics(x.rank());
    return c.SetOutput(0, ops::Standardized(x, axes, p.eps()));
  }
  std::optional<int64_t> channels = 1;
  if (x.rank() > 1) channels = c.Extent(x, axis);
  if (!channels) return;
  const Tensor mean = c.Weight(0, {*channels});
  const Tensor variance = c.Weight(1, {*channels});
  const Tensor sum = c.Weight(2, {});
  const Tensor factor = Select(Equal(sum, 0), sum.Like(0),
                               1.0 / Select(Equal(sum, 0), sum.Like(1), sum));
  const Tensor scale = 1.0 / Sqrt(variance * factor + p.eps());
  c.SetOutput(0, (x - ops::AlongAxis(mean * factor, axis, x.rank())) *
                     ops::AlongAxis(scale, axis, x.rank()));
}

// Imports the BN layer of forks of Caffe. Its blobs are scale, bias, mean and
// variance, or only scale and bias if the mean and variance were merged into
// them (bn_mode INFERENCE).
void ImportBn(LayerContext& c) {
  const BNParameter& p = c.layer().bn_param();
  const Tensor x = c.Input(0);
  if (!c.CheckRank(0, 2)) return;
  const std::optional<int64_t> channels = c.Extent(x, 1);
  if (!channels) return;
  const auto blob = [&](int index) {
    return ops::AlongAxis(c.Weight(index, {*channels}), 1, x.rank());
  };
  if (c.blob_count() == 2 && p.bn_mode() == BNParameter::INFERENCE)
    return c.SetOutput(0, x * blob(0) + blob(1));
  if (c.blob_count() != 4) {
    return c.FailUnsupported(
        "expected 4 blobs (scale, bias, mean, variance), or 2 with bn_mode: "
        "INFERENCE, found " +
        std::to_string(c.blob_count()));
  }
  c.SetOutput(0, (x - blob(2)) * (blob(0) / Sqrt(blob(3) + p.eps())) + blob(1));
}

void ImportScale(LayerContext& c) {
  const ScaleParameter& p = c.layer().scale_param();
  const Tensor x = c.Input(0);
  const bool learned = c.input_count() == 1;
  Tensor factor = c.Input(1);
  // A factor that is a scalar is broadcast to all of x; the parameter `axis`
  // has no effect then.
  const int axis = (learned ? p.num_axes() == 0 : factor.rank() == 0)
                       ? 0
                       : c.Axis(p.axis(), x.rank());
  if (learned) {
    const auto dims = Covered(c, x, axis, p.num_axes());
    if (!dims) return;
    const FillerParameter one = ConstantFiller(1);
    factor = c.Weight(0, *dims, p.has_filler() ? &p.filler() : &one);
  }
  Tensor y = x * AlignedTo(c, factor, axis, x);
  if (p.bias_term() && c.ok()) {
    const auto dims = c.Extents(factor, 0, factor.rank());
    if (!dims) return;
    y = y + AlignedTo(c, c.Weight(learned ? 1 : 0, *dims, &p.bias_filler()),
                      axis, x);
  }
  c.SetOutput(0, y);
}

void ImportBias(LayerContext& c) {
  const BiasParameter& p = c.layer().bias_param();
  const Tensor x = c.Input(0);
  const bool learned = c.input_count() == 1;
  Tensor bias = c.Input(1);
  const int axis = (learned ? p.num_axes() == 0 : bias.rank() == 0)
                       ? 0
                       : c.Axis(p.axis(), x.rank());
  if (learned) {
    const auto dims = Covered(c, x, axis, p.num_axes());
    if (!dims) return;
    bias = c.Weight(0, *dims, &p.filler());
  }
  c.SetOutput(0, x + AlignedTo(c, bias, axis, x));
}

// Imports LRN: Krizhevsky et al. 2012, section 3.3, with alpha divided by the
// window's size.
void ImportLrn(LayerContext& c) {
  const LRNParameter& p = c.layer().lrn_param();
  const Tensor x = c.Input(0);
  if (!c.CheckRank(0, 4, 4) || !c.CheckRange("local_size", p.local_size()))
    return;
  if (p.local_size() % 2 == 0) {
    return c.FailInvalid("local_size: expected an odd value, found " +
                         std::to_string(p.local_size()));
  }
  const Dim pad((p.local_size() - 1) / 2);
  if (p.norm_region() == LRNParameter::ACROSS_CHANNELS) {
    ops::Window window = ops::WindowOf({p.local_size()});
    window.low = window.high = {pad};
    const Tensor sum = ReduceWindow(x * x, "sum", window, 1);
    const double alpha =
        static_cast<double>(p.alpha()) / static_cast<double>(p.local_size());
    return c.SetOutput(
        0, x * Power(sum * alpha + static_cast<double>(p.k()), -p.beta()));
  }
  // WITHIN_CHANNEL ignores the parameter k, and its mean includes the padding.
  ops::Window window = ops::WindowOf({p.local_size(), p.local_size()});
  window.low = window.high = {pad, pad};
  const Tensor mean = AveragePool(x * x, window, 2, /*include_pad=*/true);
  c.SetOutput(0, x * Power(mean * p.alpha() + 1.0, -p.beta()));
}

void ImportMvn(LayerContext& c) {
  const MVNParameter& p = c.layer().mvn_param();
  const Tensor x = c.Input(0);
  if (!c.CheckRank(0, 2)) return;
  const std::vector<int64_t> axes =
      AxesBetween(p.across_channels() ? 1 : 2, x.rank());
  if (axes.empty()) return c.FailInvalid("expected spatial dims, found none");
  const Tensor mean = ops::CorrectedMean(x, axes);
  const Tensor centered = x - mean;
  c.SetOutput(0, p.normalize_variance()
                     ? centered / (Sqrt(ops::Variance(x, mean, axes)) +
                                   static_cast<double>(p.eps()))
                     : centered);
}

// Imports SSD's layer Normalize: divides by the norm of each pixel, or of the
// image.
void ImportNormalize(LayerContext& c) {
  const NormalizeParameter& p = c.layer().norm_param();
  const Tensor x = c.Input(0);
  if (!c.CheckRank(0, 2)) return;
  const std::optional<int64_t> channels = c.Extent(x, 1);
  if (!channels) return;
  const std::vector<int64_t> axes =
      AxesBetween(1, p.across_spatial() ? x.rank() : 2);
  const Tensor norm = Sqrt(Reduce(x * x, "sum", axes, /*keep=*/true) +
                           static_cast<double>(p.eps()));
  const FillerParameter one = ConstantFiller(1);
  const FillerParameter* filler =
      p.has_scale_filler() ? &p.scale_filler() : &one;
  const Tensor scale =
      p.channel_shared()
          ? c.Weight(0, {}, filler)
          : ops::AlongAxis(c.Weight(0, {*channels}, filler), 1, x.rank());
  c.SetOutput(0, x / norm * scale);
}

// Imports Axpy: a * x + y, where `a` has one number per image and channel.
void ImportAxpy(LayerContext& c) {
  const Tensor a = c.Input(0), x = c.Input(1), y = c.Input(2);
  if (a.rank() < 2) return c.FailInvalid("expected scales [N, C], found fewer");
  Shape shape{a.dim(0), a.dim(1)};
  while (static_cast<int>(shape.size()) < x.rank()) shape.push_back(Dim(1));
  if (!c.ok()) return;
  c.SetOutput(0, Reshape(a, shape) * x + y);
}

void ImportSoftmax(LayerContext& c) {
  const Tensor x = c.Input(0);
  c.SetOutput(0,
              Softmax(x, c.Axis(c.layer().softmax_param().axis(), x.rank())));
}

}  // namespace ember::caffe
