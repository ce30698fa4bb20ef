// Imports convolutions: of real numbers, of quantized ones in integers, and of
// real inputs with quantized weights ("hybrid": the input is quantized at run
// time).
#include "frontends/ops/convolution.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "frontends/ops/windows.h"
#include "frontends/tflite/activation.h"
#include "frontends/tflite/hybrid.h"
#include "frontends/tflite/operator_table.h"
#include "frontends/tflite/quantized.h"

namespace ember::tflite {
namespace {

using Activation = schema::ActivationFunctionType;
using ops::ConvSpec;
using ops::ConvTransposeSpec;
using ops::Window;

// The options that all convolutions share. `strides` and `dilations` have one
// entry per spatial dim, outermost first.
struct Options {
  schema::Padding padding;
  std::vector<int64_t> strides, dilations;
  Activation activation;
};

bool ConstantWindow(OperatorContext& c, Tensor w, int first, int count,
                    std::vector<int64_t>& kernel) {
  for (int i = first; i < first + count; ++i) {
    if (!w.dim(i).is_constant()) {
      c.FailUnsupported("weights: expected a constant window, found " +
                        graph::ShapeToString(w.shape()));
      return false;
    }
    kernel.push_back(w.dim(i).constant());
    if (!c.CheckPositive("window", kernel.back())) return false;
  }
  return true;
}

std::optional<Window> MakeWindow(OperatorContext& c, const Options& options,
                                 std::vector<int64_t> kernel,
                                 const Shape& spatial) {
  for (const int64_t stride : options.strides)
    if (!c.CheckPositive("stride", stride)) return std::nullopt;
  for (const int64_t dilation : options.dilations)
    if (!c.CheckPositive("dilation", dilation)) return std::nullopt;
  Window window = ops::WindowOf(std::move(kernel));
  window.strides = options.strides;
  window.dilations = options.dilations;
  if (options.padding == schema::Padding::SAME)
    ops::PadSame(spatial, /*upper=*/true, window);
  return window;
}

// Returns the weights minus their zero point, as i32. If each channel has a
// scale of its own, all zero points must be 0.
Tensor CenteredWeights(OperatorContext& c, Tensor w) {
  const Quantization& q = *c.InputQuantization(1);
  if (q.per_tensor()) return CenteredStored(w, q);
  for (const int64_t zero : q.zero_points) {
    if (zero == 0) continue;
    c.FailUnsupported(
        "weights: expected a zero point of 0 for each channel, found " +
        std::to_string(zero));
  }
  return Cast(w, DType::kI32);
}

bool CheckQuantized(OperatorContext& c, int channel_axis) {
  const Quantization* x = c.InputQuantization(0);
  const Quantization* w = c.InputQuantization(1);
  const Quantization* y = c.OutputQuantization(0);
  const bool fits = x != nullptr && x->per_tensor() && w != nullptr &&
                    y != nullptr && y->per_tensor() && y->scale() > 0 &&
                    IsStoredType(c.Input(0).dtype()) &&
                    IsStoredType(c.OutputType(0)) &&
                    (w->per_tensor() || w->axis == channel_axis);
  if (!fits) {
    c.FailUnsupported(
        "expected input and result quantized with one scale each, and weights "
        "with one or one per channel of the result");
  }
  return fits && c.ok();
}

// Sets the convolution for any quantization of the operands. `w` is in the
// graph's order.
void SetConvolution(OperatorContext& c, Tensor w, int channel_axis,
                    const ConvSpec& spec, Activation activation,
                    ops::Halves halves) {
  const Tensor x = c.Input(0), bias = c.Input(2);
  if (c.InputQuantization(1) != nullptr && x.is_float()) {
    const Quantization& q = *c.InputQuantization(1);
    if (!q.per_tensor() && q.axis != channel_axis)
      return c.FailUnsupported("weights: expected scales per channel");
    const Hybrid hybrid = QuantizeRows(
        x, /*row_dims=*/1,
        q.per_tensor() ? Rounding::kSymmetric : Rounding::kAsymmetric);
    const Tensor sums =
        ops::Conv(hybrid.values, CenteredWeights(c, w), Tensor(), spec);
    return c.SetOutput(
        0, Activated(c, RealSums(c, sums, hybrid, q, bias), activation));
  }
  if (!c.AnyQuantized()) {
    return c.SetOutput(0,
                       Activated(c, ops::Conv(x, w, bias, spec), activation));
  }
  if (!CheckQuantized(c, channel_axis)) return;
  Tensor centered = CenteredStored(x, *c.InputQuantization(0));
  Tensor weights = CenteredWeights(c, w);
  // An i64 bias says that sums of products may need more than 32 bits (with
  // 16-bit activations), so the convolution sums in i64.
  if (bias && bias.dtype() == DType::kI64) {
    centered = Cast(centered, DType::kI64);
    weights = Cast(weights, DType::kI64);
  }
  const bool is_unsigned = x.dtype() == DType::kU8;
  SetRequantized(
      c, ops::Conv(centered, weights, bias, spec),
      SumScales(*c.InputQuantization(0), *c.InputQuantization(1),
                *c.OutputQuantization(0), /*in_32_bits=*/is_unsigned),
      activation, halves);
}

Shape SpatialDims(Tensor x) {
  return Shape(x.shape().begin() + 1, x.shape().end() - 1);
}

// Imports a convolution with weights [O, window…, C] of x[N, spatial…, C *
// groups].
void ImportConvolution(OperatorContext& c, const Options& options) {
  const Tensor x = c.Input(0);
  Tensor w = c.Input(1);
  std::vector<int64_t> kernel;
  const int spatial = x.rank() - 2;
  if (!ConstantWindow(c, w, 1, spatial, kernel)) return;
  const std::optional<Window> window =
      MakeWindow(c, options, std::move(kernel), SpatialDims(x));
  if (!window) return;
  const Dim channels = x.dim(-1), per_group = w.dim(-1);
  int64_t groups = 1;
  if (channels.is_constant() && per_group.is_constant() &&
      per_group.constant() > 0 &&
      channels.constant() % per_group.constant() == 0)
    groups = channels.constant() / per_group.constant();
  std::vector<int64_t> order;
  for (int i = 1; i < w.rank(); ++i) order.push_back(i);
  order.push_back(0);
  w = Transpose(w, order);
  SetConvolution(c, w, /*channel_axis=*/0,
                 {.window = *window, .groups = groups}, options.activation,
                 ops::Halves::kUp);
}

// Returns the specification of a transposed convolution whose result has the
// shape `result`; nullopt after an error.
std::optional<ConvTransposeSpec> TransposedSpec(OperatorContext& c,
                                                const Options& options,
                                                std::vector<int64_t> kernel,
                                                const Tensor& x,
                                                const Shape& result) {
  std::optional<Window> window =
      MakeWindow(c,
                 {schema::Padding::VALID, options.strides, options.dilations,
                  Activation::NONE},
                 std::move(kernel), SpatialDims(x));
  if (!window) return std::nullopt;
  ConvTransposeSpec spec{*std::move(window), {}, 1};
  if (!ops::PadTransposed(c.builder(), SpatialDims(x),
                          Shape(result.begin() + 1, result.end() - 1),
                          options.padding == schema::Padding::SAME, spec))
    return std::nullopt;
  return spec;
}

// Imports a transposed convolution. Operands: output_shape, weights [O,
// window…, C], x, bias.
void ImportTransposed(OperatorContext& c, const Options& options) {
  const Tensor x = c.Input(2), bias = c.Input(3);
  Tensor w = c.Input(1);
  const std::optional<Shape> shape = c.Sizes(0, "output_shape");
  std::vector<int64_t> kernel;
  if (!shape || !ConstantWindow(c, w, 1, x.rank() - 2, kernel)) return;
  if (static_cast<int>(shape->size()) != x.rank()) {
    return c.FailInvalid("output_shape: expected " + std::to_string(x.rank()) +
                         " values, found " + std::to_string(shape->size()));
  }
  const std::optional<ConvTransposeSpec> spec =
      TransposedSpec(c, options, std::move(kernel), x, *shape);
  if (!spec) return;
  std::vector<int64_t> order;
  for (int i = 1; i < w.rank(); ++i) order.push_back(i);
  order.push_back(0);
  w = Transpose(w, order);
  const Quantization* qx = c.InputQuantization(2);
  const Quantization* qw = c.InputQuantization(1);
  if (qw != nullptr && x.is_float()) {
    // TRANSPOSE_CONV of real activations with quantized weights converts the
    // weights to real numbers.
    w = Transpose(DequantizeStored(c.Input(1), *qw), order);
  } else if (qx != nullptr || qw != nullptr) {
    const Quantization* qy = c.OutputQuantization(0);
    if (qx == nullptr || qw == nullptr || qy == nullptr || !qx->per_tensor() ||
        !qy->per_tensor() || !(qy->scale() > 0) ||
        !IsStoredType(c.OutputType(0)) ||
        (!qw->per_tensor() && qw->axis != 0)) {
      return c.FailUnsupported(
          "expected input and result quantized with one scale each, and "
          "weights with one or one per channel of the result");
    }
    Tensor centered = CenteredStored(x, *qx);
    Tensor weights = CenteredWeights(c, w);
    if (bias && bias.dtype() == DType::kI64) {
      centered = Cast(centered, DType::kI64);
      weights = Cast(weights, DType::kI64);
    }
    return SetRequantized(
        c, ops::ConvTranspose(centered, weights, bias, *spec),
        SumScales(*qx, *qw, *qy, /*in_32_bits=*/x.dtype() == DType::kU8),
        options.activation);
  }
  c.SetOutput(0, Activated(c, ops::ConvTranspose(x, w, bias, *spec),
                           options.activation));
}

}  // namespace

void ImportConv2D(OperatorContext& c) {
  if (!c.CheckRank(0, 4, 4) || !c.CheckRank(1, 4, 4)) return;
  const auto& o = c.Options<schema::Conv2DOptions>();
  ImportConvolution(c, {o.padding(),
                        {o.stride_h(), o.stride_w()},
                        {o.dilation_h_factor(), o.dilation_w_factor()},
                        o.fused_activation_function()});
}

void ImportConv3D(OperatorContext& c) {
  if (!c.CheckRank(0, 5, 5) || !c.CheckRank(1, 5, 5)) return;
  const auto& o = c.Options<schema::Conv3DOptions>();
  // The weights of CONV_3D are [window…, C, O], which is also the order of the
  // graph's convolutions.
  const Tensor x = c.Input(0), w = c.Input(1);
  std::vector<int64_t> kernel;
  if (!ConstantWindow(c, w, 0, 3, kernel)) return;
  const std::optional<Window> window = MakeWindow(
      c,
      {o.padding(),
       {o.stride_d(), o.stride_h(), o.stride_w()},
       {o.dilation_d_factor(), o.dilation_h_factor(), o.dilation_w_factor()},
       o.fused_activation_function()},
      std::move(kernel), SpatialDims(x));
  if (!window) return;
  c.SetOutput(
      0, Activated(
             c, ops::Conv(x, w, c.Input(2), {.window = *window, .groups = 1}),
             o.fused_activation_function()));
}

// Imports DEPTHWISE_CONV_2D. The weights are [1, window…, channels of the
// result]. Each channel of the input has several consecutive channels of the
// result.
void ImportDepthwiseConv2D(OperatorContext& c) {
  if (!c.CheckRank(0, 4, 4) || !c.CheckRank(1, 4, 4)) return;
  const auto& o = c.Options<schema::DepthwiseConv2DOptions>();
  const Options options{o.padding(),
                        {o.stride_h(), o.stride_w()},
                        {o.dilation_h_factor(), o.dilation_w_factor()},
                        o.fused_activation_function()};
  const Tensor x = c.Input(0), w = c.Input(1);
  std::vector<int64_t> kernel;
  if (!ConstantWindow(c, w, 1, 2, kernel)) return;
  if (!x.dim(-1).is_constant() || w.dim(0) != Dim(1)) {
    return c.FailUnsupported(
        "expected a constant number of channels and weights [1, h, w, "
        "channels], found " +
        graph::ShapeToString(x.shape()) + " and " +
        graph::ShapeToString(w.shape()));
  }
  const std::optional<Window> window =
      MakeWindow(c, options, std::move(kernel), SpatialDims(x));
  if (!window) return;
  SetConvolution(c, Reshape(w, {w.dim(1), w.dim(2), Dim(1), w.dim(3)}),
                 /*channel_axis=*/3,
                 {.window = *window, .groups = x.dim(-1).constant()},
                 options.activation, ops::Halves::kAwayFromZero);
}

void ImportTransposeConv(OperatorContext& c) {
  if (!c.CheckRank(1, 4, 4) || !c.CheckRank(2, 4, 4)) return;
  const auto& o = c.Options<schema::TransposeConvOptions>();
  ImportTransposed(c, {o.padding(),
                       {o.stride_h(), o.stride_w()},
                       {1, 1},
                       o.fused_activation_function()});
}

void ImportConv3DTranspose(OperatorContext& c) {
  if (!c.CheckRank(1, 5, 5) || !c.CheckRank(2, 5, 5)) return;
  const auto& o = c.Options<schema::Conv3DOptions>();
  // The weights of CONV_3D_TRANSPOSE are [window…, O, C].
  const Tensor x = c.Input(2), bias = c.Input(3);
  const std::optional<Shape> shape = c.Sizes(0, "output_shape");
  std::vector<int64_t> kernel;
  if (!shape || !ConstantWindow(c, c.Input(1), 0, 3, kernel)) return;
  if (shape->size() != 5)
    return c.FailInvalid("output_shape: expected 5 values, found " +
                         std::to_string(shape->size()));
  const Options options{
      o.padding(),
      {o.stride_d(), o.stride_h(), o.stride_w()},
      {o.dilation_d_factor(), o.dilation_h_factor(), o.dilation_w_factor()},
      o.fused_activation_function()};
  const std::optional<ConvTransposeSpec> spec =
      TransposedSpec(c, options, std::move(kernel), x, *shape);
  if (!spec) return;
  const Tensor w = Transpose(c.Input(1), {0, 1, 2, 4, 3});
  c.SetOutput(0, Activated(c, ops::ConvTranspose(x, w, bias, *spec),
                           options.activation));
}

}  // namespace ember::tflite
