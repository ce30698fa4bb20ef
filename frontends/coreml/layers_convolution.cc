// Imports layers with channels: convolution, pooling, products, normalisation.
// The channels are the third dim from the end.
#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "base/rounding.h"
#include "frontends/coreml/layer_table.h"
#include "frontends/coreml/recurrent.h"
#include "frontends/ops/convolution.h"
#include "frontends/ops/normalization.h"
#include "frontends/ops/pooling.h"
#include "frontends/ops/resize.h"

namespace ember::coreml {
namespace {

using ops::Window;

// Reshapes [.., C, H, W] to [lead, C, H, W]; LikeBefore is the inverse.
Tensor AsImages(const Tensor& x) {
  if (x.rank() == 4) return x;
  Dim lead(1);
  for (int i = 0; i + 3 < x.rank(); ++i) lead = lead * x.dim(i);
  return Reshape(x, {lead, x.dim(-3), x.dim(-2), x.dim(-1)});
}

Tensor LikeBefore(const Tensor& y, const Tensor& x) {
  if (x.rank() == 4) return y;
  Shape shape(x.shape().begin(), x.shape().end() - 3);
  shape.insert(shape.end(), y.shape().begin() + 1, y.shape().end());
  return Reshape(y, shape);
}

// Reads a field of two values, or their default. Returns false after an error.
bool ReadPair(LayerContext& c, std::string_view what, uint64_t field,
              int64_t otherwise, std::vector<int64_t>& values) {
  values = c.parameters().Integers(field);
  if (values.empty()) values = {otherwise, otherwise};
  if (values.size() != 2) {
    c.FailInvalid(std::string(what) + ": expected two values, found " +
                  std::to_string(values.size()));
    return false;
  }
  return c.CheckRange(what, values[0]) && c.CheckRange(what, values[1]);
}

// Reads BorderAmounts: the amounts before and after, for rows and columns.
// Returns false after an error.
bool ReadAmounts(LayerContext& c, const ProtobufView& amounts, Shape& low,
                 Shape& high) {
  low = high = {Dim(0), Dim(0)};
  const std::vector<ProtobufView> edges = amounts.Messages(10);
  for (size_t i = 0; i < edges.size() && i < 2; ++i) {
    const int64_t before = edges[i].Integer(1), behind = edges[i].Integer(2);
    if (!c.CheckRange("padding", before, 0) ||
        !c.CheckRange("padding", behind, 0))
      return false;
    low[i] = Dim(before);
    high[i] = Dim(behind);
  }
  return true;
}

// Sets SAME padding. If the padding of a dim is odd, the message `same` says on
// which side the additional element is.
void PadSame(const ProtobufView& same, const Tensor& images, Window& window) {
  ops::PadSame({images.dim(2), images.dim(3)}, same.Integer(1) == 0, window);
}

void Transposed(LayerContext& c, const Tensor& images, int64_t channels,
                int64_t outputs, int64_t groups, Window window,
                const Tensor& bias) {
  const ProtobufView& p = c.parameters();
  Tensor w = c.Weights(
      p, 90, {channels, outputs / groups, window.kernel[0], window.kernel[1]});
  w = Transpose(w, {2, 3, 0, 1});
  window.dilations = {1, 1};
  std::vector<int64_t> wanted = p.Integers(100);
  if (wanted.size() != 2 && p.Has(51)) {
    wanted.clear();
    for (int i = 0; i < 2; ++i) {
      const auto extent = c.Extent(images, 2 + i);
      if (!extent) return;
      wanted.push_back(*extent * window.strides[i]);
    }
  }
  ops::ConvTransposeSpec spec{window, {0, 0}, groups};
  if (wanted.size() == 2) {
    for (int i = 0; i < 2; ++i) {
      const auto extent = c.Extent(images, 2 + i);
      if (!extent || !c.CheckRange("outputShape", wanted[i])) return;
      const int64_t full = (*extent - 1) * window.strides[i] + window.kernel[i];
      const int64_t excess = std::max<int64_t>(full - wanted[i], 0);
      spec.output_padding[i] = std::max<int64_t>(wanted[i] - full, 0);
      const int64_t less = excess / 2;
      const bool more_behind = p.Message(51).Integer(1) == 0;
      spec.window.low[i] = Dim(more_behind ? less : excess - less);
      spec.window.high[i] = Dim(more_behind ? excess - less : less);
    }
  }
  const Tensor y =
      ops::ConvTranspose(ops::ToChannelsLast(images), w, bias, spec);
  c.SetOutput(0, LikeBefore(ops::ToChannelsFirst(y), c.Input(0)));
}

// Reads a field with one value per channel, as [C, 1, 1].
Tensor PerChannel(LayerContext& c, const ProtobufView& message, uint64_t field,
                  int64_t channels) {
  return Reshape(c.Weights(message, field, {channels}),
                 {Dim(channels), Dim(1), Dim(1)});
}

// Reads a field that has one value for all channels, or one per channel.
Tensor OneOrEach(LayerContext& c, const ProtobufView& message, uint64_t field,
                 int64_t channels) {
  const auto numbers = message.Message(field).Messages(1);
  const bool single = numbers.size() == 1 && numbers[0].bytes().size() == 4;
  return single ? c.Weights(message, field, {})
                : PerChannel(c, message, field, channels);
}

std::vector<int64_t> SpatialAxes(const Tensor& x) {
  return {x.rank() - 2, x.rank() - 1};
}

}  // namespace

void ImportConvolution(LayerContext& c) {
  const ProtobufView& p = c.parameters();
  if (!c.CheckRank(0, 3)) return;
  const Tensor images = AsImages(c.Input(0));
  const std::optional<int64_t> channels = c.Extent(images, 1);
  std::vector<int64_t> kernel, strides, dilations;
  if (!channels || !ReadPair(c, "kernelSize", 20, 3, kernel) ||
      !ReadPair(c, "stride", 30, 1, strides) ||
      !ReadPair(c, "dilationFactor", 40, 1, dilations))
    return;
  const int64_t outputs = p.Integer(1);
  const int64_t groups = std::max<int64_t>(p.Integer(10), 1);
  if (!c.CheckGroups(*channels, outputs, groups)) return;
  Window window = ops::WindowOf(kernel);
  window.strides = strides;
  window.dilations = dilations;
  if (!ReadAmounts(c, p.Message(50).Message(1), window.low, window.high))
    return;
  const Tensor bias = p.Flag(70) ? c.Weights(p, 91, {outputs}) : Tensor();
  if (p.Flag(60))
    return Transposed(c, images, *channels, outputs, groups, window, bias);
  if (p.Has(51)) PadSame(p.Message(51), images, window);
  const Tensor w = Transpose(
      c.Weights(p, 90, {outputs, *channels / groups, kernel[0], kernel[1]}),
      {2, 3, 1, 0});
  const Tensor y =
      ops::Conv(ops::ToChannelsLast(images), w, bias, {window, groups});
  c.SetOutput(0, LikeBefore(ops::ToChannelsFirst(y), c.Input(0)));
}

void ImportPooling(LayerContext& c) {
  const ProtobufView& p = c.parameters();
  if (!c.CheckRank(0, 3)) return;
  const Tensor images = AsImages(c.Input(0));
  std::vector<int64_t> kernel, strides;
  if (!ReadPair(c, "kernelSize", 10, 3, kernel) ||
      !ReadPair(c, "stride", 20, 1, strides))
    return;
  std::vector<int64_t> extents;
  for (int i = 2; i < 4; ++i) {
    const auto extent = c.Extent(images, i);
    if (!extent) return;
    extents.push_back(*extent);
  }
  if (p.Flag(60)) {
    kernel = extents;
    strides = {1, 1};
  }
  Window window = ops::WindowOf(kernel);
  window.strides = strides;
  if (p.Has(31) && !p.Flag(60)) {
    PadSame(p.Message(31), images, window);
  } else if (p.Has(32)) {
    std::vector<int64_t> pads = p.Message(32).Integers(10);
    pads.resize(2, 0);
    for (int i = 0; i < 2; ++i) {
      if (!c.CheckRange("paddingAmounts", pads[i], 0)) return;
      const int64_t room = extents[i] + 2 * pads[i] - kernel[i];
      if (room < 0)
        return c.FailInvalid("expected a kernel within the padded input");
      int64_t outputs = DivideRoundingUp(room, strides[i]) + 1;
      if ((pads[0] > 0 || pads[1] > 0) &&
          (outputs - 1) * strides[i] >= extents[i] + pads[i])
        --outputs;
      const int64_t high = std::max<int64_t>(
          (outputs - 1) * strides[i] + kernel[i] - extents[i] - pads[i], 0);
      window.low[i] = Dim(pads[i]);
      window.high[i] = Dim(high);
      window.ceil_extra[i] = Dim(std::max<int64_t>(high - pads[i], 0));
    }
  } else if (!ReadAmounts(c, p.Message(30).Message(1), window.low,
                          window.high)) {
    return;
  }
  Tensor y;
  switch (p.Integer(1)) {
    case 0:
      y = ReduceWindow(images, "maximum", window, 2);
      break;
    case 1:
      y = AveragePool(images, window, 2, /*include_pad=*/!p.Flag(50));
      break;
    case 2:
      y = Sqrt(ReduceWindow(images * images, "sum", window, 2));
      break;
    default:
      return c.FailInvalid("type: expected 0 to 2, found " +
                           std::to_string(p.Integer(1)));
  }
  c.SetOutput(0, LikeBefore(y, c.Input(0)));
}

void ImportActivation(LayerContext& c) {
  const Tensor x = c.Input(0);
  const std::vector<uint64_t> kinds = c.parameters().Numbers();
  if (kinds.empty()) return c.FailInvalid("expected an activation, found none");
  const uint64_t kind = kinds.back();
  const ProtobufView p = c.parameters().Message(kind);
  const double alpha = p.Float(1), beta = p.Float(2);
  const bool per_channel = kind == 25 || kind == 71;
  int64_t channels = 1;
  if (per_channel) {
    if (!c.CheckRank(0, 3)) return;
    const auto extent = c.Extent(x, x.rank() - 3);
    if (!extent) return;
    channels = *extent;
  }
  Tensor y;
  switch (kind) {
    case 15:
      y = LeakyRelu(x, alpha);
      break;
    case 20:
      y = ThresholdedReluInclusive(x, alpha);
      break;
    case 25:
      y = LeakyRelu(x, OneOrEach(c, p, 1, channels));
      break;
    case 50:
      y = Elu(x, alpha);
      break;
    case 60:
      y = Softsign(x);
      break;
    case 70:
      y = Softplus(x);
      break;
    case 71:
      y = ParametricSoftplus(x, OneOrEach(c, p, 1, channels),
                             OneOrEach(c, p, 2, channels));
      break;
    default:
      y = Activated({kind, alpha, beta}, x);
  }
  if (!y) {
    return c.FailUnsupported("activation " + std::to_string(kind) +
                             " is not known");
  }
  c.SetOutput(0, y);
}

// Imports InnerProduct: multiplies the last dim by the weights. If the rank is
// 4 or more, the last three dims [C, H, W] are first merged into one.
void ImportInnerProduct(LayerContext& c) {
  const ProtobufView& p = c.parameters();
  const Tensor x = c.Input(0);
  if (!c.CheckRank(0, 1)) return;
  const int64_t in = p.Integer(1), out = p.Integer(2);
  if (!c.CheckRange("inputChannels", in) ||
      !c.CheckRange("outputChannels", out))
    return;
  const int lead = x.rank() >= 4 ? x.rank() - 3 : x.rank() - 1;
  Shape shape(x.shape().begin(), x.shape().begin() + lead);
  Dim rows(1);
  for (const Dim& dim : shape) rows = rows * dim;
  Tensor y = Contract(Reshape(x, {rows, Dim(in)}), c.Weights(p, 20, {out, in}),
                      "mk,nk->mn");
  if (p.Flag(10)) y = y + c.Weights(p, 21, {out});
  shape.push_back(Dim(out));
  if (x.rank() >= 4) shape.insert(shape.end(), 2, Dim(1));
  c.SetOutput(0, Reshape(y, shape));
}

void ImportEmbedding(LayerContext& c) {
  const ProtobufView& p = c.parameters();
  const Tensor x = c.Input(0);
  if (!c.CheckRank(0, 4)) return;
  const int64_t in = p.Integer(1), out = p.Integer(2);
  if (!c.CheckRange("inputDim", in) || !c.CheckRange("outputChannels", out))
    return;
  Shape shape(x.shape().begin(), x.shape().end() - 3);
  const Tensor index = Cast(Reshape(x, shape), DType::kI64);
  Tensor y = Gather(Transpose(c.Weights(p, 20, {out, in}), {1, 0}), index, 0);
  if (p.Flag(10)) y = y + c.Weights(p, 21, {out});
  shape.insert(shape.end(), {Dim(out), Dim(1), Dim(1)});
  c.SetOutput(0, Reshape(y, shape));
}

void ImportEmbeddingNd(LayerContext& c) {
  const ProtobufView& p = c.parameters();
  const Tensor x = c.Input(0);
  if (!c.CheckRank(0, 2)) return;
  const int64_t in = p.Integer(1), out = p.Integer(2);
  if (!c.CheckRange("vocabSize", in) || !c.CheckRange("embeddingSize", out))
    return;
  const Tensor index = Cast(Squeeze(x, {x.rank() - 1}), DType::kI64);
  Tensor y = Gather(Transpose(c.Weights(p, 20, {out, in}), {1, 0}), index, 0);
  if (p.Flag(3)) y = y + c.Weights(p, 21, {out});
  c.SetOutput(0, y);
}

void ImportBatchnorm(LayerContext& c) {
  const ProtobufView& p = c.parameters();
  const Tensor x = c.Input(0);
  const int64_t channels = p.Integer(1);
  if (!c.CheckRank(0, 3) || !c.CheckRange("channels", channels)) return;
  const double epsilon = c.FloatOr(10, 1e-5);
  Tensor mean, variance;
  if (p.Flag(5)) {
    std::vector<int64_t> axes = SpatialAxes(x);
    if (!p.Flag(6))
      for (int i = 0; i + 3 < x.rank(); ++i) axes.insert(axes.begin() + i, i);
    mean = ops::CorrectedMean(x, axes);
    variance = ops::Variance(x, mean, axes);
  } else {
    mean = PerChannel(c, p, 17, channels);
    variance = PerChannel(c, p, 18, channels);
  }
  c.SetOutput(0, (x - mean) * (PerChannel(c, p, 15, channels) /
                               Sqrt(variance + epsilon)) +
                     PerChannel(c, p, 16, channels));
}

void ImportMvn(LayerContext& c) {
  const Tensor x = c.Input(0);
  if (!c.CheckRank(0, 3)) return;
  std::vector<int64_t> axes = SpatialAxes(x);
  if (c.parameters().Flag(1)) axes.insert(axes.begin(), x.rank() - 3);
  c.SetOutput(0, c.parameters().Flag(2)
                     ? ops::Standardized(x, axes, c.FloatOr(3, 1e-6))
                     : x - ops::CorrectedMean(x, axes));
}

void ImportL2Normalize(LayerContext& c) {
  const Tensor x = c.Input(0);
  if (!c.CheckRank(0, 3)) return;
  const int r = x.rank();
  c.SetOutput(0, x / Sqrt(Reduce(x * x, "sum", {r - 3, r - 2, r - 1}, true) +
                          c.FloatOr(1, 1e-6)));
}

void ImportLrn(LayerContext& c) {
  const ProtobufView& p = c.parameters();
  if (!c.CheckRank(0, 3) || !c.CheckRange("localSize", p.Integer(3))) return;
  const Tensor images = AsImages(c.Input(0));
  const int64_t size = p.Integer(3);
  Window window = ops::WindowOf({size});
  window.low = {Dim((size - 1) / 2)};
  window.high = {Dim(size / 2)};
  const Tensor sum = ReduceWindow(images * images, "sum", window, 1);
  c.SetOutput(
      0,
      LikeBefore(images * Power(sum * (p.Float(1) / static_cast<double>(size)) +
                                    c.FloatOr(4, 1),
                                -p.Float(2)),
                 c.Input(0)));
}

void ImportSoftmax(LayerContext& c) {
  if (!c.CheckRank(0, 3)) return;
  c.SetOutput(0, Softmax(c.Input(0), c.Input(0).rank() - 3));
}

void ImportCrop(LayerContext& c) {
  const Tensor x = c.Input(0);
  if (!c.CheckRank(0, 3)) return;
  if (c.input_count() == 2) {
    std::vector<int64_t> offsets = c.parameters().Integers(5);
    offsets.resize(2, 0);
    const Tensor like = c.Input(1);
    if (!c.CheckRank(1, 3) || !c.CheckRange("offset", offsets[0], 0) ||
        !c.CheckRange("offset", offsets[1], 0))
      return;
    return c.SetOutput(
        0, SliceAxis(SliceAxis(x, x.rank() - 2, Dim(offsets[0]), like.dim(-2)),
                     x.rank() - 1, Dim(offsets[1]), like.dim(-1)));
  }
  Shape low, high;
  if (!ReadAmounts(c, c.parameters().Message(1), low, high)) return;
  Tensor y = x;
  for (int i = 0; i < 2; ++i) {
    const int axis = x.rank() - 2 + i;
    y = SliceAxis(y, axis, low[i], x.dim(axis) - low[i] - high[i]);
  }
  c.SetOutput(0, y);
}

void ImportPadding(LayerContext& c) {
  const ProtobufView& p = c.parameters();
  const Tensor x = c.Input(0);
  Shape low, high;
  if (!c.CheckRank(0, 3) || !ReadAmounts(c, p.Message(10), low, high)) return;
  low.insert(low.begin(), static_cast<size_t>(x.rank() - 2), Dim(0));
  high.insert(high.begin(), static_cast<size_t>(x.rank() - 2), Dim(0));
  const std::string_view mode = p.Has(2)   ? "reflect"
                                : p.Has(3) ? "edge"
                                           : "constant";
  c.SetOutput(
      0, Pad(x, low, high, mode,
             mode == "constant" ? x.Like(p.Message(1).Float(1)) : Tensor()));
}

// Reads the factors of an upsampling, one for rows and one for columns, which
// are whole numbers (field 1) or fractions (field 7); nullopt after an error.
std::optional<std::vector<double>> ReadFactors(LayerContext& c) {
  const ProtobufView& p = c.parameters();
  std::vector<double> factors = p.Floats(7);
  if (factors.empty()) {
    std::vector<int64_t> whole;
    if (!ReadPair(c, "scalingFactor", 1, 1, whole)) return std::nullopt;
    return std::vector<double>(whole.begin(), whole.end());
  }
  if (!p.Integers(1).empty()) {
    c.FailInvalid(
        "expected scalingFactor or fractionalScalingFactor, found both");
    return std::nullopt;
  }
  bool fit = factors.size() == 2;
  for (const double factor : factors) fit &= factor > 0 && factor <= INT32_MAX;
  if (!fit) {
    c.FailInvalid("fractionalScalingFactor: expected two factors above 0");
    return std::nullopt;
  }
  return factors;
}

// True if the factor is a whole number. The extent to upsample may then be a
// symbol, which is known at run time only.
bool IsWhole(double factor) { return std::floor(factor) == factor; }

// Returns the extent of an upsampled axis; nullopt after an error.
std::optional<Dim> UpsampledExtent(LayerContext& c, const Tensor& x, int axis,
                                   double factor) {
  if (IsWhole(factor)) return x.dim(axis) * Dim(static_cast<int64_t>(factor));
  const std::optional<int64_t> extent = c.Extent(x, axis);
  if (!extent) return std::nullopt;
  const double size = std::floor(static_cast<double>(*extent) * factor);
  if (size < 1 || size > INT32_MAX) {
    c.FailInvalid(
        "fractionalScalingFactor: expected factors that give 1 to 2147483647 "
        "rows and columns");
    return std::nullopt;
  }
  return Dim(static_cast<int64_t>(size));
}

void ImportUpsample(LayerContext& c) {
  const Tensor x = c.Input(0);
  if (!c.CheckRank(0, 3)) return;
  const auto factors = ReadFactors(c);
  if (!factors) return;
  const int axis = x.rank() - 2;
  const int64_t mode = c.parameters().Integer(5);
  const int64_t alignment = c.parameters().Integer(6);
  const bool are_whole = IsWhole((*factors)[0]) && IsWhole((*factors)[1]);
  if (mode < 0 || mode > 1 || alignment < 0 || alignment > 2) {
    return c.FailInvalid(
        "expected a mode of 0 or 1 and a linearUpsampleMode of 0 to 2, found " +
        std::to_string(mode) + " and " + std::to_string(alignment));
  }
  if (!are_whole && (mode == 0 || alignment == 0)) {
    return c.FailUnsupported(
        "fractionalScalingFactor: expected whole numbers for upsampling that "
        "is "
        "not bilinear with corners that are aligned or not "
        "(linearUpsampleMode), found fractions");
  }
  if (mode == 0) {
    const auto times = [&](size_t i) {
      return Dim(static_cast<int64_t>((*factors)[i]));
    };
    return c.SetOutput(
        0, RepeatEach(RepeatEach(x, axis, times(0)), axis + 1, times(1)));
  }
  ops::ResizeSpec spec;
  spec.mode = "linear";
  spec.coordinates = alignment == 1   ? "align_corners"
                     : alignment == 2 ? "half_pixel"
                                      : "asymmetric";
  std::vector<ops::ResizedAxis> axes;
  for (int i = 0; i < 2; ++i) {
    const auto out =
        UpsampledExtent(c, x, axis + i, (*factors)[static_cast<size_t>(i)]);
    if (!out) return;
    axes.push_back({.axis = axis + i, .in = x.dim(axis + i), .out = *out});
  }
  c.SetOutput(0, ResizeAxes(spec, axes, x));
}

void ImportResizeBilinear(LayerContext& c) {
  const Tensor x = c.Input(0);
  std::vector<int64_t> sizes;
  if (!c.CheckRank(0, 3) || !ReadPair(c, "targetSize", 1, 1, sizes)) return;
  const int64_t method = c.parameters().Message(2).Integer(1);
  ops::ResizeSpec spec;
  spec.mode = "linear";
  if (method == 0) {
    spec.coordinates = "align_corners";
  } else if (method == 2) {
    spec.coordinates = "asymmetric";
  } else if (method == 1 && sizes[0] > 1 && sizes[1] > 1) {
    spec.coordinates = "align_corners";
  } else {
    return c.FailUnsupported(
        "mode: expected strict alignment of endpoints, or that of upsampling, "
        "found " +
        std::to_string(method));
  }
  const int axis = x.rank() - 2;
  c.SetOutput(
      0, ResizeAxes(
             spec,
             {{.axis = axis, .in = x.dim(axis), .out = Dim(sizes[0])},
              {.axis = axis + 1, .in = x.dim(axis + 1), .out = Dim(sizes[1])}},
             x));
}

}  // namespace ember::coreml
