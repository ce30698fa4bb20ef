// Imports convolutions, pooling, normalization and products of matrices.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "frontends/ops/convolution.h"
#include "frontends/ops/einsum.h"
#include "frontends/ops/normalization.h"
#include "frontends/ops/pooling.h"
#include "frontends/ops/windows.h"
#include "frontends/tensorflow/operators.h"

namespace ember::tensorflow {
namespace {

using ops::Window;

// Returns true if the attribute data_format says that channels come first, [N,
// C, spatial…], false if they come last; nullopt for any other format, which is
// an error.
std::optional<bool> ChannelsFirst(OperatorContext& c) {
  const std::string format = c.Text("data_format", "NHWC");
  if (format == "NHWC" || format == "NDHWC") return false;
  if (format == "NCHW" || format == "NCDHW") return true;
  c.FailUnsupported("attribute 'data_format': found '" + format + "'");
  return std::nullopt;
}

// Returns the values of the spatial dims from an attribute with one value per
// dim, or 1 for each if the attribute is omitted; nullopt after an error.
std::optional<std::vector<int64_t>> Spatial(OperatorContext& c,
                                            const std::string& name,
                                            const std::vector<int64_t>& all,
                                            int spatial, bool first) {
  if (all.empty()) return std::vector<int64_t>(spatial, 1);
  if (static_cast<int>(all.size()) != spatial + 2) {
    c.FailInvalid("attribute '" + name + "': expected " +
                  std::to_string(spatial + 2) + " values, found " +
                  std::to_string(all.size()));
    return std::nullopt;
  }
  std::vector<int64_t> values;
  for (int i = 0; i < spatial + 2; ++i) {
    const bool is_spatial = first ? i >= 2 : i >= 1 && i <= spatial;
    const int64_t value = all[static_cast<size_t>(i)];
    if (is_spatial) {
      if (!c.CheckPositive(name, value)) return std::nullopt;
      values.push_back(value);
    } else if (value != 1) {
      c.FailUnsupported("attribute '" + name +
                        "': expected 1 for batch and channels, found " +
                        std::to_string(value));
      return std::nullopt;
    }
  }
  return values;
}

Tensor Last(Tensor x, bool first) { return first ? ops::ToChannelsLast(x) : x; }
Tensor Back(Tensor y, bool first) {
  return first ? ops::ToChannelsFirst(y) : y;
}

Shape SpatialDims(Tensor x) {  // channels-last only
  return Shape(x.shape().begin() + 1, x.shape().end() - 1);
}

// Sets the padding that the attributes state. `first`: explicit_paddings have
// the channels as dim 1, not as the last dim. Returns false after an error.
bool SetPadding(OperatorContext& c, const Shape& spatial, bool first,
                Window& window) {
  const std::string padding = c.Text("padding", "VALID");
  if (padding == "VALID") return true;
  if (padding == "SAME") {
    ops::PadSame(spatial, /*upper=*/true, window);
    return true;
  }
  const std::vector<int64_t> all = c.Integers("explicit_paddings", {});
  const int rank = window.rank();
  if (padding != "EXPLICIT" || static_cast<int>(all.size()) != 2 * (rank + 2)) {
    c.FailInvalid(
        "attribute 'padding': expected SAME, VALID or EXPLICIT with " +
        std::to_string(2 * (rank + 2)) + " explicit_paddings, found '" +
        padding + "'");
    return false;
  }
  for (int i = 0; i < rank; ++i) {
    const size_t at = 2 * static_cast<size_t>(i + (first ? 2 : 1));
    if (all[at] < 0 || all[at + 1] < 0 || all[at] > ops::kMaxWindow ||
        all[at + 1] > ops::kMaxWindow) {
      c.FailInvalid(
          "attribute 'explicit_paddings': expected values of at "
          "least 0");
      return false;
    }
    window.low[i] = Dim(all[at]);
    window.high[i] = Dim(all[at + 1]);
  }
  return true;
}

std::optional<std::vector<int64_t>> ConstantWindow(OperatorContext& c, Tensor w,
                                                   int spatial) {
  std::vector<int64_t> kernel;
  for (int i = 0; i < spatial; ++i) {
    if (!w.dim(i).is_constant()) {
      c.FailUnsupported("weights: expected a constant window, found " +
                        graph::ShapeToString(w.shape()));
      return std::nullopt;
    }
    kernel.push_back(w.dim(i).constant());
    if (!c.CheckPositive("window", kernel.back())) return std::nullopt;
  }
  return kernel;
}

std::optional<Window> ConvWindow(OperatorContext& c, Tensor w, int spatial,
                                 bool first) {
  auto kernel = ConstantWindow(c, w, spatial);
  const auto strides =
      Spatial(c, "strides", c.Integers("strides", {}), spatial, first);
  const auto dilations =
      Spatial(c, "dilations", c.Integers("dilations", {}), spatial, first);
  if (!kernel || !strides || !dilations) return std::nullopt;
  Window window = ops::WindowOf(*std::move(kernel));
  window.strides = *strides;
  window.dilations = *dilations;
  return window;
}

// Convolves x with w [window…, C / groups, O]; absent after an error.
Tensor Convolved(OperatorContext& c, Tensor x, Tensor w, Tensor bias,
                 int spatial) {
  const auto first = ChannelsFirst(c);
  if (!first) return Tensor();
  auto window = ConvWindow(c, w, spatial, *first);
  x = Last(x, *first);
  if (!window || !SetPadding(c, SpatialDims(x), *first, *window))
    return Tensor();
  const Dim channels = x.dim(-1), per_group = w.dim(-2);
  int64_t groups = 1;
  if (channels.is_constant() && per_group.is_constant() &&
      per_group.constant() > 0 &&
      channels.constant() % per_group.constant() == 0)
    groups = channels.constant() / per_group.constant();
  return Back(ops::Conv(x, w, bias, {.window = *window, .groups = groups}),
              *first);
}

void ImportConvolution(OperatorContext& c, int spatial) {
  const int rank = spatial + 2;
  if (!c.CheckRank(0, rank, rank) || !c.CheckRank(1, rank, rank)) return;
  const Tensor y = Convolved(c, c.Input(0), c.Input(1), Tensor(), spatial);
  if (y) c.SetOutput(0, y);
}

// Imports a transposed convolution. Operands: (result's shape, weights
// [window…, O, C], x).
void ImportTransposedConvolution(OperatorContext& c, int spatial) {
  const int rank = spatial + 2;
  if (!c.CheckRank(1, rank, rank) || !c.CheckRank(2, rank, rank)) return;
  const auto first = ChannelsFirst(c);
  const auto given = c.Sizes(0, "input_sizes");
  if (!first || !given) return;
  const Tensor w = c.Input(1), x = Last(c.Input(2), *first);
  auto window = ConvWindow(c, w, spatial, *first);
  if (!window) return;
  // The operand with the result's shape has all dims, or only the spatial
  // extents.
  Shape outputs = *given;
  if (static_cast<int>(outputs.size()) == rank) {
    outputs.erase(outputs.begin());
    outputs.erase(*first ? outputs.begin() : outputs.end() - 1);
  }
  if (static_cast<int>(outputs.size()) != spatial) {
    return c.FailInvalid("input_sizes: expected " + std::to_string(rank) +
                         " values, found " + std::to_string(given->size()));
  }
  const std::string padding = c.Text("padding", "VALID");
  ops::ConvTransposeSpec spec{*window, {}, 1};
  if (padding == "EXPLICIT") {
    if (!SetPadding(c, outputs, *first, spec.window)) return;
    spec.output_padding.assign(static_cast<size_t>(spatial), 0);
  } else if (!ops::PadTransposed(c.builder(), SpatialDims(x), outputs,
                                 padding == "SAME", spec)) {
    return;
  }
  std::vector<int64_t> order;
  for (int i = 0; i < spatial; ++i) order.push_back(i);
  order.push_back(spatial + 1);
  order.push_back(spatial);
  c.SetOutput(
      0,
      Back(ops::ConvTranspose(x, Transpose(w, order), Tensor(), spec), *first));
}

// Reads the window of a pooling. ksize and strides are attributes; in V2 they
// are operands. Nullopt after an error.
std::optional<Window> PoolWindow(OperatorContext& c, int spatial, bool first,
                                 const Shape& extents) {
  std::vector<int64_t> ksize = c.Integers("ksize", {});
  std::vector<int64_t> strides = c.Integers("strides", {});
  if (c.input_count() == 3) {
    const auto given = c.ConstantIntegers(1, "ksize");
    const auto steps = c.ConstantIntegers(2, "strides");
    if (!given || !steps) return std::nullopt;
    ksize = *given;
    strides = *steps;
  }
  const auto kernel = Spatial(c, "ksize", ksize, spatial, first);
  const auto steps = Spatial(c, "strides", strides, spatial, first);
  if (!kernel || !steps) return std::nullopt;
  Window window = ops::WindowOf(*kernel);
  window.strides = *steps;
  if (!SetPadding(c, extents, first, window)) return std::nullopt;
  return window;
}

void ImportPooling(OperatorContext& c, int spatial, bool average) {
  if (!c.CheckRank(0, spatial + 2, spatial + 2)) return;
  const auto first = ChannelsFirst(c);
  if (!first) return;
  const Tensor x = c.Input(0);
  const int begin = *first ? 2 : 1;
  const Shape extents(x.shape().begin() + begin,
                      x.shape().begin() + begin + spatial);
  const auto window = PoolWindow(c, spatial, *first, extents);
  if (!window) return;
  c.SetOutput(
      0, average ? ops::AveragePool(x, *window, begin, /*include_pad=*/false)
                 : ops::ReduceWindow(x, "maximum", *window, begin));
}

Tensor AlongChannels(Tensor vector, int rank, bool first) {
  return AlongAxis(vector, first ? 1 : rank - 1, rank);
}

Tensor Adjoint(Tensor x, bool transposed) {
  if (!transposed || x.rank() < 2) return x;
  std::vector<int64_t> order;
  for (int i = 0; i < x.rank(); ++i) order.push_back(i);
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  return Transpose(x, order);
}

// Applies the further operators of a fused kernel (bias, activation) to the
// result y of its main operator; nullopt after an error.
std::optional<Tensor> Fused(OperatorContext& c, Tensor y, int operands,
                            bool first) {
  const AttrValue* list = c.Attribute("fused_ops");
  int next = operands;
  if (list == nullptr) return y;
  for (const std::string& op : list->list().s()) {
    if (op == "BiasAdd") {
      y = y + AlongChannels(c.Input(next++), y.rank(), first);
    } else if (op == "Relu") {
      y = Relu(y);
    } else if (op == "Relu6") {
      y = Relu6(y);
    } else if (op == "Elu") {
      y = Elu(y, 1);
    } else if (op == "LeakyRelu") {
      y = LeakyRelu(y, c.Number("leakyrelu_alpha", 0.2f));
    } else if (op == "Tanh") {
      y = Tanh(y);
    } else if (op == "Sigmoid") {
      y = Sigmoid(y);
    } else if (op == "Add") {
      y = y + c.Input(next++);
    } else if (op == "FusedBatchNorm") {
      const auto vector = [&] {
        return AlongChannels(c.Input(next++), y.rank(), first);
      };
      const Tensor scale = vector(), offset = vector(), mean = vector(),
                   variance = vector();
      const double epsilon = c.Number("epsilon", 1e-4);
      y = (y - mean) * (scale / Sqrt(variance + epsilon)) + offset;
    } else {
      c.FailUnsupported("attribute 'fused_ops': found '" + op + "'");
      return std::nullopt;
    }
  }
  return y;
}

}  // namespace

void ImportConv2D(OperatorContext& c) { ImportConvolution(c, 2); }
void ImportConv3D(OperatorContext& c) { ImportConvolution(c, 3); }
void ImportConv2DBackpropInput(OperatorContext& c) {
  ImportTransposedConvolution(c, 2);
}
void ImportConv3DBackpropInput(OperatorContext& c) {
  ImportTransposedConvolution(c, 3);
}

// Converts weights [h, w, channels, multiplier] of a depthwise convolution to
// those of a grouped convolution.
Tensor DepthwiseWeights(OperatorContext& c, Tensor w) {
  if (!w.dim(2).is_constant()) {
    c.FailUnsupported("weights: expected constant dims, found " +
                      graph::ShapeToString(w.shape()));
  }
  return Reshape(w, {w.dim(0), w.dim(1), Dim(1), w.dim(2) * w.dim(3)});
}

void ImportDepthwiseConv2D(OperatorContext& c) {
  if (!c.CheckRank(0, 4, 4) || !c.CheckRank(1, 4, 4)) return;
  const auto first = ChannelsFirst(c);
  const Tensor w = c.Input(1);
  if (!first) return;
  if (c.Input(0).dim(*first ? 1 : 3) != w.dim(2)) {
    return c.FailInvalid("expected as many channels as the weights have, " +
                         w.dim(2).ToString() + ", found " +
                         graph::ShapeToString(c.Input(0).shape()));
  }
  const Tensor y =
      Convolved(c, c.Input(0), DepthwiseWeights(c, w), Tensor(), 2);
  if (y) c.SetOutput(0, y);
}

void ImportFusedConv2D(OperatorContext& c) {
  if (!c.CheckRank(0, 4, 4) || !c.CheckRank(1, 4, 4)) return;
  const auto first = ChannelsFirst(c);
  if (!first) return;
  const Tensor w = c.node().op == "_FusedDepthwiseConv2dNative"
                       ? DepthwiseWeights(c, c.Input(1))
                       : c.Input(1);
  const Tensor y = Convolved(c, c.Input(0), w, Tensor(), 2);
  if (!y) return;
  if (const auto z = Fused(c, y, 2, *first)) c.SetOutput(0, *z);
}

// Imports FusedPadConv2D, which convolves an image extended by `paddings`.
// Operands: (x, paddings, weights).
void ImportFusedPadConv2D(OperatorContext& c) {
  if (!c.CheckRank(0, 4, 4) || !c.CheckRank(2, 4, 4)) return;
  const auto margins = c.Contents(1, "paddings");
  if (!margins) return;
  if (margins->size() != 8) return c.FailInvalid("paddings: expected 8 values");
  Shape low, high;
  for (size_t i = 0; i < 8; ++i)
    (i % 2 == 0 ? low : high).push_back((*margins)[i]);
  const Tensor x = c.Input(0);
  const std::string mode = c.Text("mode", "REFLECT");
  if (mode != "REFLECT")
    return c.FailUnsupported("attribute 'mode': expected REFLECT");
  const Tensor padded =
      Pad(x, low, high, "reflect", Tensor(&c.builder(), nullptr));
  const Tensor y = Convolved(c, padded, c.Input(2), Tensor(), 2);
  if (y) c.SetOutput(0, y);
}

// Imports Dilation2D: the maximum over the window of x + weights. Operands: (x,
// weights [h, w, C]).
void ImportDilation2D(OperatorContext& c) {
  if (!c.CheckRank(0, 4, 4) || !c.CheckRank(1, 3, 3)) return;
  const Tensor x = c.Input(0), w = c.Input(1);
  const auto kernel = ConstantWindow(c, w, 2);
  const auto strides =
      Spatial(c, "strides", c.Integers("strides", {}), 2, false);
  const auto rates = Spatial(c, "rates", c.Integers("rates", {}), 2, false);
  if (!kernel || !strides || !rates) return;
  Window window = ops::WindowOf(*kernel);
  window.strides = *strides;
  window.dilations = *rates;
  if (!SetPadding(c, SpatialDims(x), false, window)) return;
  if ((*kernel)[0] * (*kernel)[1] > 1024)
    return c.FailUnsupported("expected a window of at most 1024 elements");
  const double lowest = tf_common::ExtremeOf(x.dtype(), false);
  const Tensor padded = Pad(x, {Dim(0), window.low[0], window.low[1], Dim(0)},
                            {Dim(0), window.high[0], window.high[1], Dim(0)},
                            "constant", x.Like(lowest));
  Shape sizes;
  for (int i = 0; i < 2; ++i) {
    sizes.push_back(FloorDivide(padded.dim(i + 1) - Dim(window.Reach(i)),
                                Dim(window.strides[i])) +
                    Dim(1));
  }
  Tensor y;
  for (int64_t i = 0; i < (*kernel)[0] && c.ok(); ++i) {
    for (int64_t j = 0; j < (*kernel)[1] && c.ok(); ++j) {
      const Tensor part = Slice(
          padded, {Dim(0), Dim(i * (*rates)[0]), Dim(j * (*rates)[1]), Dim(0)},
          {1, (*strides)[0], (*strides)[1], 1},
          {x.dim(0), sizes[0], sizes[1], x.dim(3)});
      const Tensor weight =
          Reshape(Slice(w, {Dim(i), Dim(j), Dim(0)}, {1, 1, 1},
                        {Dim(1), Dim(1), w.dim(2)}),
                  {w.dim(2)});
      const Tensor sum = part + weight;
      y = y ? Maximum(y, sum) : sum;
    }
  }
  if (y) c.SetOutput(0, y);
}

void ImportMaxPool(OperatorContext& c) { ImportPooling(c, 2, false); }
void ImportAvgPool(OperatorContext& c) { ImportPooling(c, 2, true); }
void ImportMaxPool3D(OperatorContext& c) { ImportPooling(c, 3, false); }
void ImportAvgPool3D(OperatorContext& c) { ImportPooling(c, 3, true); }

void ImportBiasAdd(OperatorContext& c) {
  if (!c.CheckRank(0, 1) || !c.CheckRank(1, 1, 1)) return;
  const auto first = ChannelsFirst(c);
  if (!first) return;
  const int rank = c.Input(0).rank();
  c.SetOutput(0,
              c.Input(0) + AlongChannels(c.Input(1), rank, *first && rank > 1));
}

// Imports FusedBatchNorm. Operands: (x, scale, offset, mean, variance). In
// training the batch's own mean and variance are used.
void ImportFusedBatchNorm(OperatorContext& c) {
  if (!c.CheckRank(0, 4, 5)) return;
  const auto first = ChannelsFirst(c);
  if (!first) return;
  const Tensor x = c.Input(0);
  const DType type = x.dtype();
  const int rank = x.rank();
  const Tensor wide = Cast(x, ComputeType(type));
  const auto vector = [&](Tensor v) { return AlongChannels(v, rank, *first); };
  const double epsilon = c.Number("epsilon", 1e-4);
  Tensor mean, variance;
  if (c.Flag("is_training", true)) {
    std::vector<int64_t> axes;
    for (int i = 0; i < rank; ++i)
      if (i != (*first ? 1 : rank - 1)) axes.push_back(i);
    const Tensor center = ops::CorrectedMean(wide, axes);
    const Tensor spread = ops::Variance(wide, center, axes);
    const Dim channels = x.dim(*first ? 1 : -1);
    mean = Reshape(center, {channels});
    variance = Reshape(spread, {channels});
    // The variance output is the unbiased estimate: it is scaled by n / (n -
    // 1).
    Dim count(1);
    for (const int64_t axis : axes)
      count = count * x.dim(static_cast<int>(axis));
    const Tensor n = Cast(DimScalar(c.builder(), count), wide.dtype());
    c.SetOutput(1, mean);
    c.SetOutput(2, variance * (n / Maximum(n - 1.0, 1)));
  } else {
    mean = c.Input(3);
    variance = c.Input(4);
    c.SetOutput(1, mean);
    c.SetOutput(2, variance);
  }
  const Tensor scale = c.Input(1) / Sqrt(variance + epsilon);
  const Tensor y = wide * vector(scale) + vector(c.Input(2) - mean * scale);
  c.SetOutput(0, Cast(y, type));
  // Outputs 3 and above of FusedBatchNorm are read by gradients only, so any
  // value will do.
  for (int i = 3; i < c.output_count(); ++i) c.SetOutput(i, mean);
}

// Imports BatchNormWithGlobalNormalization. Operands: (t, mean, variance, beta,
// gamma).
void ImportBatchNormWithGlobalNormalization(OperatorContext& c) {
  if (!c.CheckRank(0, 4, 4)) return;
  Tensor factor = 1.0 / Sqrt(c.Input(2) + c.Number("variance_epsilon", 0));
  if (c.Flag("scale_after_normalization", true)) factor = factor * c.Input(4);
  c.SetOutput(0, (c.Input(0) - c.Input(1)) * factor + c.Input(3));
}

void ImportLrn(OperatorContext& c) {
  if (!c.CheckRank(0, 4, 4)) return;
  const int64_t radius = c.Integer("depth_radius", 5);
  if (!c.CheckRange("attribute 'depth_radius'", radius, 0, 1 << 20)) return;
  const Tensor x = c.Input(0);
  Window window = ops::WindowOf({2 * radius + 1});
  window.low[0] = window.high[0] = Dim(radius);
  const Tensor sums = ops::ReduceWindow(x * x, "sum", window, /*first=*/3);
  c.SetOutput(0, x / Power(sums * c.Number("alpha", 1) + c.Number("bias", 1),
                           c.Number("beta", 0.5)));
}

void ImportMatMul(OperatorContext& c) {
  if (!c.CheckRank(0, 2, 2) || !c.CheckRank(1, 2, 2)) return;
  Tensor y = MatMul(Adjoint(c.Input(0), c.Flag("transpose_a", false)),
                    Adjoint(c.Input(1), c.Flag("transpose_b", false)));
  if (c.node().op == "_FusedMatMul") {
    const auto z = Fused(c, y, 2, /*first=*/false);
    if (!z) return;
    y = *z;
  }
  c.SetOutput(0, y);
}

void ImportBatchMatMul(OperatorContext& c) {
  if (!c.CheckRank(0, 2) || !c.CheckRank(1, 2)) return;
  Tensor a = Adjoint(c.Input(0), c.Flag("adj_x", false));
  Tensor b = Adjoint(c.Input(1), c.Flag("adj_y", false));
  const DType type = c.Type("Tout", a.dtype());
  c.SetOutput(0, MatMul(Cast(a, type), Cast(b, type)));
}

void ImportEinsum(OperatorContext& c) {
  std::vector<Tensor> operands;
  for (int i = 0; i < c.input_count(); ++i) operands.push_back(c.Input(i));
  if (c.ok())
    c.SetOutput(0, ops::Einsum(c.builder(), c.Text("equation", ""), operands));
}

void ImportL2Loss(OperatorContext& c) {
  const Tensor x = c.Input(0);
  std::vector<int64_t> axes;
  for (int i = 0; i < x.rank(); ++i) axes.push_back(i);
  c.SetOutput(0, Reduce(x * x, "sum", axes, false) * 0.5);
}

// Imports Cross. The operands are vectors of three elements.
void ImportCross(OperatorContext& c) {
  if (!c.CheckRank(0, 1) || !c.CheckRank(1, 1)) return;
  const Tensor a = c.Input(0), b = c.Input(1);
  const int last = a.rank() - 1;
  const auto rotated = [&](Tensor x, int by) {
    return Concat({SliceAxis(x, last, Dim(by), Dim(3 - by)),
                   SliceAxis(x, last, Dim(0), Dim(by))},
                  last);
  };
  c.SetOutput(0, rotated(a, 1) * rotated(b, 2) - rotated(a, 2) * rotated(b, 1));
}

}  // namespace ember::tensorflow
