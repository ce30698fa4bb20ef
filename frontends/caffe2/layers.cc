// Imports convolutions, pooling and matrix products.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "frontends/caffe2/operator_table.h"
#include "frontends/caffe2/window_arguments.h"
#include "frontends/ops/convolution.h"
#include "frontends/ops/deform_conv.h"
#include "frontends/ops/pooling.h"
#include "frontends/ops/regions.h"
#include "frontends/ops/resize.h"

namespace ember::caffe2 {
namespace {

using ops::Window;

// Returns the spatial dims of an image, whose channels are the last dim if
// `last`, else dim 1.
Shape SpatialOf(Tensor x, bool last) {
  const auto begin = x.shape().begin();
  return last ? Shape(begin + 1, x.shape().end() - 1)
              : Shape(begin + 2, x.shape().end());
}

// ToLast transposes an image from the operator's order of dims (`last`: true if
// channels are last) to channels last, which frontends/ops expects. FromLast
// transposes back.
Tensor ToLast(Tensor x, bool last) { return last ? x : ops::ToChannelsLast(x); }
Tensor FromLast(Tensor y, bool last) {
  return last ? y : ops::ToChannelsFirst(y);
}

// Transposes weights to [spatial…, I, O], from [O, I, spatial…] or [O,
// spatial…, I]; those of transposed convolutions from [I, O, spatial…] or [I,
// spatial…, O].
Tensor KernelLast(Tensor w, bool last, bool transposed) {
  std::vector<int64_t> order;
  for (int i = last ? 1 : 2; i < w.rank() - (last ? 1 : 0); ++i)
    order.push_back(i);
  const int64_t second = last ? w.rank() - 1 : 1;
  order.push_back(transposed ? 0 : second);
  order.push_back(transposed ? second : 0);
  return Transpose(w, order);
}

// Checks that image and weights have the same rank, and that the spatial dims
// of the weights are the window's extents. Returns false, with an error, if
// not.
bool CheckOperands(OperatorContext& c, const Window& window, bool last,
                   int input = 1) {
  const Tensor w = c.Input(input);
  const std::string what = "weights (input " + std::to_string(input) + ")";
  if (w.rank() != c.Input(0).rank()) {
    c.FailInvalid(what + ": expected rank " +
                  std::to_string(c.Input(0).rank()) + ", found " +
                  graph::ShapeToString(w.shape()));
    return false;
  }
  const Shape kernel = SpatialOf(w, last);
  for (int i = 0; i < window.rank(); ++i) {
    const auto at = static_cast<size_t>(i);
    if (kernel[at] == Dim(window.kernel[at])) continue;
    c.FailInvalid(what + ": expected a kernel of " +
                  std::to_string(window.kernel[at]) + " along dim " +
                  std::to_string(i) + ", found " +
                  graph::ShapeToString(w.shape()));
    return false;
  }
  return true;
}

bool CheckImages(OperatorContext& c) {
  return c.CheckRank(0, 3, 5) && c.CheckRank(1, 3, 5);
}

}  // namespace

void ImportConv(OperatorContext& c) {
  if (!CheckImages(c)) return;
  const Tensor x = c.Input(0);
  const bool last = c.ChannelsLast();
  const auto window = ReadWindow(c, SpatialOf(x, last));
  const int64_t groups = c.Integer("group", 1);
  if (!window || !c.CheckPositive("group", groups) ||
      !CheckOperands(c, *window, last))
    return;
  c.SetOutput(
      FromLast(ops::Conv(ToLast(x, last), KernelLast(c.Input(1), last, false),
                         c.Input(2), {.window = *window, .groups = groups}),
               last));
}

void ImportConvRelu(OperatorContext& c) {
  ImportConv(c);
  if (c.ok()) c.SetOutput(Relu(c.Output(0)));
}

// Imports DeformConv. Operands: x, offsets, weights, and optionally the bias.
// The channels come first.
void ImportDeformConv(OperatorContext& c) {
  for (int i = 0; i < 3; ++i)
    if (!c.CheckRank(i, 4, 4)) return;
  if (c.ChannelsLast()) return c.FailUnsupported("order: expected NCHW");
  const Tensor x = c.Input(0);
  const auto window = ReadWindow(c, SpatialOf(x, false));
  const int64_t groups = c.Integer("group", 1);
  const int64_t offset_groups = c.Integer("deformable_group", 1);
  if (!window || !c.CheckPositive("group", groups) ||
      !c.CheckPositive("deformable_group", offset_groups) ||
      !CheckOperands(c, *window, false, 2))
    return;
  c.SetOutput(ops::DeformConv(
      {.x = x, .w = c.Input(2), .offsets = c.Input(1), .bias = c.Input(3)},
      {.window = *window,
       .groups = groups,
       .offset_groups = offset_groups,
       .sharp_border = true}));
}

void ImportConvTranspose(OperatorContext& c) {
  if (!CheckImages(c)) return;
  const Tensor x = c.Input(0);
  const bool last = c.ChannelsLast();
  const Shape spatial = SpatialOf(x, last);
  const auto legacy = ReadLegacyPad(c);
  if (!legacy) return;
  if (*legacy != LegacyPad::kNotSet)
    return c.FailUnsupported("legacy_pad of a transposed convolution");
  const auto window = ReadWindow(c, spatial);
  const auto extra = ReadSizes(c, "adj", spatial.size(), 0, 0);
  const int64_t groups = c.Integer("group", 1);
  if (!window || !extra || !c.CheckPositive("group", groups) ||
      !CheckOperands(c, *window, last))
    return;
  c.SetOutput(FromLast(
      ops::ConvTranspose(
          ToLast(x, last), KernelLast(c.Input(1), last, true), c.Input(2),
          {.window = *window, .output_padding = *extra, .groups = groups}),
      last));
}

namespace {

void Pooled(OperatorContext& c, bool is_maximum) {
  if (!c.CheckRank(0, 3, 5)) return;
  const Tensor x = c.Input(0);
  const bool last = c.ChannelsLast();
  const int first = last ? 1 : 2;
  const Shape spatial = SpatialOf(x, last);
  if (c.Flag("global_pooling", false)) {
    std::vector<int64_t> axes;
    for (size_t i = 0; i < spatial.size(); ++i)
      axes.push_back(first + static_cast<int>(i));
    return c.SetOutput(is_maximum ? Reduce(x, "maximum", axes, /*keep=*/true)
                                  : Mean(x, axes, /*keep=*/true));
  }
  const auto window = ReadWindow(c, spatial);
  if (!window) return;
  c.SetOutput(is_maximum
                  ? ops::ReduceWindow(x, "maximum", *window, first)
                  : ops::AveragePool(x, *window, first,
                                     c.Flag("count_include_pad", false)));
}

// Multiplies x, as rows, by the weights' rows (columns if `transposed`), and
// adds input 2, a bias for each result, if it is present.
void FullyConnected(OperatorContext& c, bool transposed) {
  if (!c.CheckRank(0, 1) || !c.CheckRank(1, 1)) return;
  const Tensor x = c.Input(0);
  const int axis = c.AxisOf("axis", 1, x.rank());
  const int weight_axis = c.AxisOf("axis_w", 1, c.Input(1).rank());
  if (!c.ok()) return;
  // The product takes the weights as they are stored. A transpose of them would
  // be folded at compile time, and held in addition to them.
  Tensor y = Contract(AsRows(x, axis), AsRows(c.Input(1), weight_axis),
                      transposed ? "mk,kn->mn" : "mk,nk->mn");
  if (c.Input(2)) {
    if (!c.CheckRank(2, 1, 1)) return;
    y = y + ops::WithDim(c.Input(2), 0, y.dim(1));
  }
  Shape shape(x.shape().begin(), x.shape().begin() + axis);
  shape.push_back(y.dim(1));
  c.SetOutput(Reshape(y, shape));
}

Tensor Transposed(Tensor x) {
  std::vector<int64_t> order;
  for (int i = 0; i < x.rank(); ++i) order.push_back(i);
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  return Transpose(x, order);
}

}  // namespace

void ImportMaxPool(OperatorContext& c) { Pooled(c, /*is_maximum=*/true); }
void ImportAveragePool(OperatorContext& c) { Pooled(c, /*is_maximum=*/false); }

void ImportFC(OperatorContext& c) { FullyConnected(c, /*transposed=*/false); }
void ImportFCTransposed(OperatorContext& c) {
  FullyConnected(c, /*transposed=*/true);
}

// Multiplies two matrices, each made by merging the dims before and after an
// axis.
void ImportMatMul(OperatorContext& c) {
  if (!c.CheckRank(0, 1) || !c.CheckRank(1, 1)) return;
  const int axis_a = c.AxisOf("axis_a", 1, c.Input(0).rank());
  const int axis_b = c.AxisOf("axis_b", 1, c.Input(1).rank());
  if (!c.ok()) return;
  Tensor a = AsRows(c.Input(0), axis_a), b = AsRows(c.Input(1), axis_b);
  if (c.Flag("trans_a", false)) a = Transposed(a);
  if (c.Flag("trans_b", false)) b = Transposed(b);
  c.SetOutput(MatMul(a, b));
}

void ImportBatchMatMul(OperatorContext& c) {
  const bool broadcast = c.Flag("broadcast", false);
  if (!c.CheckRank(0, broadcast ? 1 : 2) || !c.CheckRank(1, broadcast ? 1 : 2))
    return;
  Tensor a = c.Input(0), b = c.Input(1);
  if (c.Flag("trans_a", false) && a.rank() > 1) a = Transposed(a);
  if (c.Flag("trans_b", false) && b.rank() > 1) b = Transposed(b);
  c.SetOutput(MatMul(a, b));
}

void ImportRoIPool(OperatorContext& c) {
  if (!c.CheckRank(0, 4, 4) || !c.CheckRank(1, 2, 2)) return;
  if (c.ChannelsLast()) return c.FailUnsupported("order: expected NCHW");
  const int64_t h = c.Integer("pooled_h", 1), w = c.Integer("pooled_w", 1);
  if (!c.CheckPositive("pooled_h", h) || !c.CheckPositive("pooled_w", w))
    return;
  c.SetOutput(
      ops::MaxRoiPool(c.Input(0), c.Input(1),
                      {.bins = {h, w}, .scale = c.Number("spatial_scale", 1)}));
}

namespace {

// Resizes both spatial axes by the scales in the arguments, or by the scales in
// input 1.
void Resized(OperatorContext& c, const ops::ResizeSpec& spec) {
  if (!c.CheckRank(0, 4, 4)) return;
  const Tensor x = c.Input(0);
  std::vector<double> scales{c.Number("height_scale", 1),
                             c.Number("width_scale", 1)};
  if (c.input_count() > 1) {
    const auto given = c.ConstantNumbers(c.Input(1), "scales (input 1)");
    if (!given) return;
    if (given->size() != 2)
      return c.FailInvalid("scales (input 1): expected 2 numbers, found " +
                           std::to_string(given->size()));
    scales = *given;
  }
  const int first = c.ChannelsLast() ? 1 : 2;
  std::vector<ops::ResizedAxis> axes;
  for (int i = 0; i < 2; ++i) {
    const double scale = scales[static_cast<size_t>(i)];
    if (!(scale > 0 && scale <= 4096)) {
      return c.FailInvalid("scale: expected a number in (0, 4096], found " +
                           std::to_string(scale));
    }
    const Dim in = x.dim(first + i);
    const auto whole = static_cast<int64_t>(scale);
    std::optional<Dim> out;
    if (static_cast<double>(whole) == scale) {
      out = in * Dim(whole);
    } else if (const auto extent = in.AsConstant()) {
      // Caffe2 multiplies the extent by the scale in f32. The import does too,
      // so that the product is rounded equally.
      out = Dim(static_cast<int64_t>(static_cast<float>(*extent) *
                                     static_cast<float>(scale)));
    }
    if (!out || out->AsConstant().value_or(1) < 1) {
      return c.FailUnsupported("scale " + std::to_string(scale) +
                               " of an extent of " + in.ToString());
    }
    axes.push_back({.axis = first + i, .in = in, .out = *out, .scale = scale});
  }
  if (c.ok()) c.SetOutput(ops::ResizeAxes(spec, axes, x));
}

}  // namespace

void ImportResizeNearest(OperatorContext& c) {
  Resized(c,
          {.mode = "nearest", .coordinates = "asymmetric", .nearest = "floor"});
}
void ImportUpsampleBilinear(OperatorContext& c) {
  Resized(c, {.mode = "linear", .coordinates = "align_corners"});
}

}  // namespace ember::caffe2
