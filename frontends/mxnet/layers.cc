// Imports layers of neural networks: convolutions, pooling, normalisations,
// products, activations, and losses as they compute in prediction. Images are
// [N, C, …].
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/one_line.h"
#include "frontends/mxnet/operator_table.h"
#include "frontends/ops/convolution.h"
#include "frontends/ops/deform_conv.h"
#include "frontends/ops/normalization.h"
#include "frontends/ops/pooling.h"
#include "frontends/ops/windows.h"

namespace ember::mxnet {
namespace {

using ops::Window;

// Transposes [O, I, spatial…] to [spatial…, I, O].
Tensor KernelLast(Tensor w) {
  std::vector<int64_t> order;
  for (int i = 2; i < w.rank(); ++i) order.push_back(i);
  order.push_back(1);
  order.push_back(0);
  return Transpose(w, order);
}

std::optional<Window> ReadWindow(NodeContext& c, std::vector<int64_t> kernel) {
  const size_t count = kernel.size();
  Window window = ops::WindowOf(kernel);
  window.strides = c.Integers("stride", count, 1);
  window.dilations = c.Integers("dilate", count, 1);
  const std::vector<int64_t> pad = c.Integers("pad", count, 0);
  for (size_t i = 0; i < count; ++i) {
    if (!c.CheckPositive("kernel", kernel[i]) ||
        !c.CheckPositive("stride", window.strides[i]) ||
        !c.CheckPositive("dilate", window.dilations[i]))
      return std::nullopt;
    if (pad[i] < 0 || pad[i] > ops::kMaxWindow) {
      c.FailInvalid("pad: expected 0 or more, found " + std::to_string(pad[i]));
      return std::nullopt;
    }
    window.low[i] = window.high[i] = Dim(pad[i]);
  }
  return c.ok() ? std::optional<Window>(window) : std::nullopt;
}

bool CheckLayout(NodeContext& c, int rank) {
  static constexpr std::string_view kFirst[] = {"NCW", "NCHW", "NCDHW"};
  const std::string layout = c.Text("layout", "");
  if (layout.empty() || (rank >= 3 && rank <= 5 && layout == kFirst[rank - 3]))
    return true;
  c.FailUnsupported("layout: expected channels first, found '" +
                    OnOneLine(layout) + "'");
  return false;
}

Tensor BiasOf(NodeContext& c, int input) {
  return c.Flag("no_bias", false) ? Tensor() : c.Input(input);
}

// Reads a convolution of data (input 0) with weights [O, I, spatial…], of ranks
// in [minimum, maximum]; nullopt after an error.
std::optional<ops::ConvSpec> ReadConvolution(NodeContext& c, int weight,
                                             int minimum, int maximum) {
  if (!c.CheckRank(0, minimum, maximum) ||
      !c.CheckRank(weight, minimum, maximum))
    return std::nullopt;
  const Tensor x = c.Input(0), w = c.Input(weight);
  if (!CheckLayout(c, x.rank())) return std::nullopt;
  if (w.rank() != x.rank()) {
    c.FailInvalid("weight: expected rank " + std::to_string(x.rank()) +
                  ", found " + graph::ShapeToString(w.shape()));
    return std::nullopt;
  }
  std::vector<int64_t> kernel;
  for (int i = 2; i < w.rank(); ++i)
    kernel.push_back(w.dim(i).AsConstant().value_or(0));
  const auto window = ReadWindow(c, kernel);
  const int64_t groups = c.Integer("num_group", 1);
  if (!window || !c.CheckPositive("num_group", groups)) return std::nullopt;
  return ops::ConvSpec{.window = *window, .groups = groups};
}

// Returns an input with one element per channel; channels are dim `axis` of x.
Tensor PerChannel(NodeContext& c, int input, int axis, int rank, DType type) {
  if (!c.CheckRank(input, 1, 1)) return c.Wrap(nullptr);
  return AlongAxis(Cast(c.Input(input), type), axis, rank);
}

}  // namespace

void ImportConvolution(NodeContext& c) {
  const auto spec = ReadConvolution(c, 1, 3, 5);
  if (!spec) return;
  c.SetOutput(ops::ToChannelsFirst(ops::Conv(ops::ToChannelsLast(c.Input(0)),
                                             KernelLast(c.Input(1)),
                                             BiasOf(c, 2), *spec)));
}

namespace {

// Imports a deformable convolution of images. Operands: data, offsets, a mask
// if it is modulated, weight, optionally a bias.
void Deformable(NodeContext& c, bool is_modulated) {
  const int weight = is_modulated ? 3 : 2;
  const auto spec = ReadConvolution(c, weight, 4, 4);
  const int64_t offset_groups = c.Integer("num_deformable_group", 1);
  if (!spec || !c.CheckRank(1, 4, 4) ||
      (is_modulated && !c.CheckRank(2, 4, 4)) ||
      !c.CheckPositive("num_deformable_group", offset_groups))
    return;
  c.SetOutput(ops::DeformConv({.x = c.Input(0),
                               .w = c.Input(weight),
                               .offsets = c.Input(1),
                               .mask = is_modulated ? c.Input(2) : Tensor(),
                               .bias = BiasOf(c, weight + 1)},
                              {.window = spec->window,
                               .groups = spec->groups,
                               .offset_groups = offset_groups,
                               .sharp_border = !is_modulated}));
}

}  // namespace

void ImportDeformableConvolution(NodeContext& c) {
  Deformable(c, /*is_modulated=*/false);
}
void ImportModulatedDeformableConvolution(NodeContext& c) {
  Deformable(c, /*is_modulated=*/true);
}

// Imports Deconvolution. The weight is [C, O / groups, spatial…].
void ImportDeconvolution(NodeContext& c) {
  if (!c.CheckRank(0, 3, 5) || !c.CheckRank(1, 3, 5)) return;
  const Tensor x = c.Input(0), w = c.Input(1);
  if (!CheckLayout(c, x.rank())) return;
  if (w.rank() != x.rank())
    return c.FailInvalid("weight: expected rank " + std::to_string(x.rank()) +
                         ", found " + graph::ShapeToString(w.shape()));
  std::vector<int64_t> kernel, order;
  for (int i = 2; i < w.rank(); ++i) {
    kernel.push_back(w.dim(i).AsConstant().value_or(0));
    order.push_back(i);
  }
  order.push_back(0);
  order.push_back(1);
  const auto window = ReadWindow(c, kernel);
  const int64_t groups = c.Integer("num_group", 1);
  if (!window || !c.CheckPositive("num_group", groups)) return;
  ops::ConvTransposeSpec spec{
      .window = *window,
      .output_padding = c.Integers("adj", kernel.size(), 0),
      .groups = groups};
  const std::vector<int64_t> target = c.Integers("target_shape");
  if (!target.empty() && target.size() != kernel.size())
    return c.FailInvalid("target_shape: expected " +
                         std::to_string(kernel.size()) + " extents");
  for (size_t i = 0; i < kernel.size(); ++i) {
    if (!target.empty() && target[0] > 0) {
      // If target_shape is given, it is the extent of the result, and the
      // padding is derived from it.
      const auto at = static_cast<int>(i);
      const Dim total = (x.dim(2 + at) - Dim(1)) * Dim(window->strides[i]) +
                        Dim(window->Reach(at)) - Dim(target[i]);
      if (!total.is_constant())
        return c.FailUnsupported("target_shape for an open extent");
      const int64_t pad = total.constant();
      spec.output_padding[i] = pad < 0 ? -pad : pad % 2;
      const int64_t each = pad < 0 ? 0 : (pad + 1) / 2;
      spec.window.low[i] = spec.window.high[i] = Dim(each);
    }
    if (spec.output_padding[i] < 0 || spec.output_padding[i] > ops::kMaxWindow)
      return c.FailInvalid("adj: expected 0 or more, found " +
                           std::to_string(spec.output_padding[i]));
  }
  const Tensor bias = c.Flag("no_bias", true) ? Tensor() : c.Input(2);
  c.SetOutput(ops::ToChannelsFirst(ops::ConvTranspose(
      ops::ToChannelsLast(x), Transpose(w, order), bias, spec)));
}

void ImportPooling(NodeContext& c) {
  if (!c.CheckRank(0, 3, 5)) return;
  const Tensor x = c.Input(0);
  if (!CheckLayout(c, x.rank())) return;
  const std::string kind = c.Text("pool_type", "max");
  const int spatial = x.rank() - 2;
  const bool is_power = kind == "lp";
  const auto power = static_cast<double>(c.Integer("p_value", 2));
  if (kind != "max" && kind != "avg" && kind != "sum" && !is_power)
    return c.FailInvalid("pool_type: found '" + OnOneLine(kind) + "'");
  const auto powered = [&](Tensor t) { return Power(Absolute(t), power); };
  if (c.Flag("global_pool", false)) {
    std::vector<int64_t> axes;
    for (int i = 0; i < spatial; ++i) axes.push_back(2 + i);
    Tensor y = kind == "max" ? Reduce(x, "maximum", axes, true)
               : kind == "avg"
                   ? Mean(x, axes, true)
                   : Reduce(is_power ? powered(x) : x, "sum", axes, true);
    return c.SetOutput(is_power ? Power(y, 1 / power) : y);
  }
  std::vector<int64_t> kernel =
      c.Integers("kernel", static_cast<size_t>(spatial), 0);
  std::optional<Window> window = ReadWindow(c, kernel);
  if (!window) return;
  const Shape extents(x.shape().begin() + 2, x.shape().end());
  const std::string convention = c.Text("pooling_convention", "valid");
  if (convention == "full") {
    ops::ExtendToCeil(extents, *window);
  } else if (convention == "same") {
    ops::PadSame(extents, /*upper=*/true, *window);
  } else if (convention != "valid") {
    return c.FailInvalid("pooling_convention: found '" + OnOneLine(convention) +
                         "'");
  }
  if (kind == "max")
    return c.SetOutput(ops::ReduceWindow(x, "maximum", *window, /*first=*/2));
  if (kind == "avg") {
    return c.SetOutput(ops::AveragePool(x, *window, /*first=*/2,
                                        c.Flag("count_include_pad", true)));
  }
  const Tensor sum =
      ops::ReduceWindow(is_power ? powered(x) : x, "sum", *window, /*first=*/2);
  c.SetOutput(is_power ? Power(sum, 1 / power) : sum);
}

void ImportAdaptiveAvgPooling(NodeContext& c) {
  if (!c.CheckRank(0, 4, 4)) return;
  const Tensor x = c.Input(0);
  std::vector<int64_t> size = c.Integers("output_size");
  if (size.empty()) size = {1};
  if (size.size() == 1) size.push_back(size[0]);
  if (size == std::vector<int64_t>{1, 1})
    return c.SetOutput(Mean(x, {2, 3}, /*keep=*/true));
  Window window = ops::WindowOf({1, 1});
  for (int i = 0; i < 2; ++i) {
    const auto extent = x.dim(2 + i).AsConstant();
    const int64_t out = size[static_cast<size_t>(i)];
    if (!c.CheckPositive("output_size", out)) return;
    if (!extent || *extent % out != 0) {
      return c.FailUnsupported(
          "output_size: expected a divisor of the extent, found " +
          std::to_string(out) + " and " + x.dim(2 + i).ToString());
    }
    window.kernel[static_cast<size_t>(i)] = *extent / out;
    window.strides[static_cast<size_t>(i)] = *extent / out;
  }
  c.SetOutput(ops::AveragePool(x, window, /*first=*/2, true));
}

void ImportFullyConnected(NodeContext& c) {
  if (!c.CheckRank(0, 1) || !c.CheckRank(1, 2, 2)) return;
  Tensor x = c.Input(0);
  const Tensor w = c.Input(1);
  if (c.Flag("flatten", true) && x.rank() != 2) {
    const Shape rest(x.shape().begin() + 1, x.shape().end());
    x = Reshape(x, {x.dim(0), graph::ElementCount(rest)});
  }
  Tensor y = MatMul(x, Transpose(w, {1, 0}));
  const Tensor bias = BiasOf(c, 2);
  c.SetOutput(bias ? y + bias : y);
}

// Imports BatchNorm. It uses the trained mean and variance, whatever
// use_global_stats says.
void ImportBatchNorm(NodeContext& c) {
  if (!c.CheckRank(0, 1)) return;
  const Tensor x = c.Input(0);
  const int rank = x.rank();
  const int axis = c.Axis(c.Integer("axis", rank < 2 ? 0 : 1), rank);
  const DType type = ComputeType(x.dtype());
  for (int i = 1; i < 5; ++i)
    if (!c.CheckRank(i, 1, 1)) return;
  Tensor scale = 1.0 / Sqrt(Cast(c.Input(4), type) + c.Number("eps", 1e-3));
  // If fix_gamma is set, gamma is 1, whatever numbers the file has.
  if (!c.Flag("fix_gamma", true)) scale = scale * Cast(c.Input(1), type);
  const Tensor shift = Cast(c.Input(2), type) - Cast(c.Input(3), type) * scale;
  if (!c.ok()) return;
  c.SetOutput(Cast(Cast(x, type) * AlongAxis(scale, axis, rank) +
                       AlongAxis(shift, axis, rank),
                   x.dtype()));
}

void ImportLayerNorm(NodeContext& c) {
  if (!c.CheckRank(0, 1)) return;
  const Tensor x = c.Input(0);
  const int axis = c.Axis(c.Integer("axis", -1), x.rank());
  const DType type = ComputeType(x.dtype());
  const Tensor normal =
      ops::Standardized(Cast(x, type), {axis}, c.Number("eps", 1e-5));
  c.SetOutput(Cast(normal * PerChannel(c, 1, axis, x.rank(), type) +
                       PerChannel(c, 2, axis, x.rank(), type),
                   x.dtype()));
}

void ImportInstanceNorm(NodeContext& c) {
  if (!c.CheckRank(0, 3)) return;
  const Tensor x = c.Input(0);
  std::vector<int64_t> axes;
  for (int i = 2; i < x.rank(); ++i) axes.push_back(i);
  const DType type = ComputeType(x.dtype());
  const Tensor normal =
      ops::Standardized(Cast(x, type), axes, c.Number("eps", 1e-3));
  c.SetOutput(Cast(normal * PerChannel(c, 1, 1, x.rank(), type) +
                       PerChannel(c, 2, 1, x.rank(), type),
                   x.dtype()));
}

void ImportGroupNorm(NodeContext& c) {
  if (!c.CheckRank(0, 3)) return;
  const Tensor x = c.Input(0);
  const int64_t groups = c.Integer("num_groups", 1);
  if (!c.CheckPositive("num_groups", groups)) return;
  if (!ops::DivideElementCounts({x.dim(1)}, {Dim(groups)}))
    return c.FailInvalid("num_groups: expected a divisor of " +
                         x.dim(1).ToString() + ", found " +
                         std::to_string(groups));
  const DType type = ComputeType(x.dtype());
  const Tensor normal =
      ops::GroupStandardized(Cast(x, type), 1, groups, c.Number("eps", 1e-5));
  c.SetOutput(Cast(normal * PerChannel(c, 1, 1, x.rank(), type) +
                       PerChannel(c, 2, 1, x.rank(), type),
                   x.dtype()));
}

void ImportL2Normalization(NodeContext& c) {
  if (!c.CheckRank(0, 2)) return;
  const Tensor x = c.Input(0);
  const std::string mode = c.Text("mode", "instance");
  std::vector<int64_t> axes;
  if (mode == "channel") {
    axes = {1};
  } else if (mode == "instance" || mode == "spatial") {
    for (int i = mode == "instance" ? 1 : 2; i < x.rank(); ++i)
      axes.push_back(i);
  } else {
    return c.FailInvalid(
        "mode: expected instance, channel or spatial, found '" +
        OnOneLine(mode) + "'");
  }
  const Tensor sum = Reduce(x * x, "sum", axes, /*keep=*/true);
  c.SetOutput(x / Sqrt(sum + c.Number("eps", 1e-10)));
}

// Imports LRN, which divides x by a power of the sum of the squares of the
// nsize channels around each channel.
void ImportLRN(NodeContext& c) {
  if (!c.CheckRank(0, 4, 4)) return;
  const Tensor x = c.Input(0);
  const int64_t size = c.Integer("nsize", 5);
  if (!c.CheckPositive("nsize", size)) return;
  Window window = ops::WindowOf({size});
  window.low = {Dim(size / 2)};
  window.high = {Dim(size - 1 - size / 2)};
  const Tensor sum = ops::ReduceWindow(x * x, "sum", window, /*first=*/1);
  const double alpha = c.Number("alpha", 1e-4) / static_cast<double>(size);
  c.SetOutput(
      x * Power(sum * alpha + c.Number("knorm", 2), -c.Number("beta", 0.75)));
}

void ImportActivation(NodeContext& c) {
  const Tensor x = c.Input(0);
  const std::string kind = c.Text("act_type", "");
  if (kind == "relu") return c.SetOutput(Relu(x));
  if (kind == "sigmoid") return c.SetOutput(Sigmoid(x));
  if (kind == "tanh") return c.SetOutput(Tanh(x));
  if (kind == "softrelu") return c.SetOutput(Softplus(x));
  if (kind == "softsign") return c.SetOutput(Softsign(x));
  if (kind == "log_sigmoid") return c.SetOutput(LogSigmoid(x));
  if (kind == "mish") return c.SetOutput(Mish(x));
  c.FailUnsupported("act_type '" + OnOneLine(kind) + "'");
}

void ImportLeakyReLU(NodeContext& c) {
  const Tensor x = c.Input(0);
  const std::string kind = c.Text("act_type", "leaky");
  const double slope = c.Number("slope", 0.25);
  if (kind == "leaky") return c.SetOutput(LeakyRelu(x, slope));
  if (kind == "elu") return c.SetOutput(Elu(x, slope));
  if (kind == "selu") return c.SetOutput(Selu(x));
  if (kind == "gelu") return c.SetOutput(Gelu(x));
  if (kind == "rrelu") {
    // rrelu draws its slope at random in training, and uses the mean of the
    // bounds in prediction.
    const double mean =
        (c.Number("lower_bound", 0.125) + c.Number("upper_bound", 0.334)) / 2;
    return c.SetOutput(LeakyRelu(x, mean));
  }
  if (kind != "prelu")
    return c.FailUnsupported("act_type '" + OnOneLine(kind) + "'");
  if (!c.CheckRank(1, 1, 1)) return;
  Tensor gamma = c.Input(1);
  if (x.rank() > 1 && gamma.dim(0) != Dim(1))
    gamma = AlongAxis(gamma, 1, x.rank());
  c.SetOutput(LeakyRelu(x, gamma));
}

namespace {

int SoftmaxAxis(NodeContext& c, int otherwise) {
  return c.Axis(c.Integer("axis", otherwise), c.Input(0).rank());
}

// Sets the output to the softmax that loss layers compute: over all dims except
// the batch together. If `channels` is true: over dim 1 only.
void SoftmaxOfRows(NodeContext& c, bool channels) {
  if (!c.CheckRank(0, 1)) return;
  const Tensor x = c.Input(0);
  if (channels || x.rank() <= 2)
    return c.SetOutput(Softmax(x, x.rank() < 2 ? 0 : 1));
  const Shape rest(x.shape().begin() + 1, x.shape().end());
  const Tensor rows = Reshape(x, {x.dim(0), graph::ElementCount(rest)});
  c.SetOutput(Reshape(Softmax(rows, 1), x.shape()));
}

}  // namespace

void ImportSoftmaxOutput(NodeContext& c) {
  if (!c.CheckRank(0, 1)) return;
  if (c.Flag("preserve_shape", false))
    return c.SetOutput(Softmax(c.Input(0), c.Input(0).rank() - 1));
  SoftmaxOfRows(c, c.Flag("multi_output", false));
}

void ImportSoftmaxActivation(NodeContext& c) {
  SoftmaxOfRows(c, c.Text("mode", "instance") == "channel");
}

void ImportSoftmax(NodeContext& c) {
  if (!c.CheckRank(0, 1)) return;
  Tensor x = c.Input(0);
  const int axis = SoftmaxAxis(c, -1);
  const double temperature = c.Number("temperature", 1);
  if (temperature != 1) x = x / temperature;
  if (c.Flag("use_length", false)) {
    if (!c.CheckRank(1, 1)) return;
    // If lengths are given, the softmax of a row ignores the elements after the
    // row's length.
    const Tensor place = AlongAxis(
        IotaVector(c.builder(), x.dim(axis), DType::kI64), axis, x.rank());
    const Tensor length = Unsqueeze(Cast(c.Input(1), DType::kI64), {axis});
    const Tensor inside = Less(place, length);
    const Tensor y = Softmax(Select(inside, x, x.Like(-3.4e38)), axis);
    return c.SetOutput(Select(inside, y, y.Like(0)));
  }
  c.SetOutput(Softmax(x, axis));
}

void ImportLogSoftmax(NodeContext& c) {
  if (!c.CheckRank(0, 1)) return;
  const double temperature = c.Number("temperature", 1);
  const Tensor x = temperature == 1 ? c.Input(0) : c.Input(0) / temperature;
  c.SetOutput(ops::LogSoftmax(x, SoftmaxAxis(c, -1)));
}

void ImportSoftmin(NodeContext& c) {
  if (!c.CheckRank(0, 1)) return;
  c.SetOutput(Softmax(-c.Input(0), SoftmaxAxis(c, -1)));
}

void ImportLogisticOutput(NodeContext& c) { c.SetOutput(Sigmoid(c.Input(0))); }

void ImportUpSampling(NodeContext& c) {
  if (!c.CheckRank(0, 4, 4)) return;
  const int64_t scale = c.Integer("scale", 1);
  if (!c.CheckPositive("scale", scale)) return;
  if (c.Text("sample_type", "nearest") != "nearest")
    return c.FailUnsupported(
        "sample_type: expected nearest (bilinear is a Deconvolution)");
  if (c.Integer("num_args", 1) != 1)
    return c.FailUnsupported("num_args: expected one input");
  Tensor x = c.Input(0);
  for (const int axis : {2, 3}) x = ops::RepeatEach(x, axis, Dim(scale));
  c.SetOutput(x);
}

void ImportEmbedding(NodeContext& c) {
  if (!c.CheckRank(0, 0) || !c.CheckRank(1, 2, 2)) return;
  // Embedding clamps an index outside of the table to the first or last row.
  const Tensor table = c.Input(1);
  const Tensor last = ops::DimScalar(c.builder(), table.dim(0)) - 1.0;
  const Tensor index = Minimum(Maximum(Cast(c.Input(0), DType::kI64), 0), last);
  c.SetOutput(Gather(table, index, 0));
}

}  // namespace ember::mxnet
