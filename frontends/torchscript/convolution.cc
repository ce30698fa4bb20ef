// Imports convolutions. Inputs are [N, C, spatial…], or without N.
#include "frontends/ops/convolution.h"

#include <string>
#include <vector>

#include "frontends/ops/deform_conv.h"
#include "frontends/ops/windows.h"
#include "frontends/torchscript/operator_table.h"

namespace ember::torchscript {
namespace {

// Transposes [O, I, spatial…] to [spatial…, I, O]; for transposed convolutions
// it transposes [I, O, spatial…] to [spatial…, I, O].
Tensor KernelLast(const Tensor& w, bool is_transposed) {
  std::vector<int64_t> order;
  for (int i = 2; i < w.rank(); ++i) order.push_back(i);
  order.push_back(is_transposed ? 0 : 1);
  order.push_back(is_transposed ? 1 : 0);
  return ops::Transpose(w, order);
}

bool CheckWindow(Call& c, const ops::Window& window,
                 const std::vector<int64_t>& padding) {
  for (int i = 0; i < window.rank(); ++i) {
    const auto at = static_cast<size_t>(i);
    const bool is_fine = window.kernel[at] > 0 && window.strides[at] > 0 &&
                         window.dilations[at] > 0 && padding[at] >= 0 &&
                         window.kernel[at] <= ops::kMaxWindow &&
                         window.strides[at] <= ops::kMaxWindow &&
                         window.dilations[at] <= ops::kMaxWindow &&
                         padding[at] <= ops::kMaxWindow;
    if (is_fine) continue;
    c.FailInvalid(
        "expected a kernel, stride and dilation of 1 or more and a padding of "
        "0 or more, each at most 2^24");
    return false;
  }
  return c.ok();
}

struct Layer {
  Tensor x, weight, bias;
  int64_t groups = 1;
  bool is_batched = true;
};
// Reads and checks the operands of a convolution; false after an error. `rank`:
// the rank that inputs with a batch dim have; 0 means that of the weight.
bool ReadLayer(Call& c, int rank, Layer& layer) {
  layer.x = c.tensor("input");
  layer.weight = c.tensor("weight");
  layer.bias = c.tensor("bias");
  layer.groups = c.integer("groups");
  if (!c.ok()) return false;
  if (rank == 0) rank = layer.weight.rank();
  if (!c.CheckRank("weight", layer.weight, rank, rank) ||
      !c.CheckRank("input", layer.x, rank - 1, rank) ||
      !c.CheckRank("weight", layer.weight, 3, 5))
    return false;
  if (!CheckNumbers(c, "input", layer.x, "weight", layer.weight)) return false;
  layer.is_batched = layer.x.rank() == rank;
  if (!layer.is_batched) layer.x = ops::Unsqueeze(layer.x, {0});
  if (layer.groups < 1) {
    c.FailInvalid("groups: expected 1 or more, found " +
                  std::to_string(layer.groups));
    return false;
  }
  for (int i = 2; i < layer.weight.rank(); ++i) {
    if (!layer.weight.dim(i).is_constant()) {
      c.FailUnsupported("weight: expected a kernel of known extents");
      return false;
    }
  }
  return true;
}
std::vector<int64_t> KernelOf(const Layer& layer) {
  std::vector<int64_t> kernel;
  for (int i = 2; i < layer.weight.rank(); ++i)
    kernel.push_back(layer.weight.dim(i).constant());
  return kernel;
}
Tensor Finish(const Layer& layer, const Tensor& y) {
  const Tensor first = ops::ToChannelsFirst(y);
  return layer.is_batched ? first : ops::Squeeze(first, {0});
}

Tensor Convolve(Call& c, int rank) {
  Layer layer;
  if (!ReadLayer(c, rank, layer)) return layer.x;
  ops::Window window = ops::WindowOf(KernelOf(layer));
  const auto count = static_cast<size_t>(window.rank());
  window.strides = c.integers("stride", count);
  window.dilations = c.integers("dilation", count);
  if (c.value("padding").is(Value::Kind::kString)) {
    const std::string padding = c.text("padding");
    if (!CheckWindow(c, window, std::vector<int64_t>(count))) return layer.x;
    if (padding != "same" && padding != "valid") {
      c.FailInvalid("padding: expected same or valid, found '" + padding + "'");
      return layer.x;
    }
    // "same" pads by the window's extent minus 1 in all. If that is odd, the
    // extra element is at the end.
    for (int i = 0; i < window.rank() && padding == "same"; ++i) {
      const int64_t total = window.Reach(i) - 1;
      window.low[static_cast<size_t>(i)] = Dim(total / 2);
      window.high[static_cast<size_t>(i)] = Dim(total - total / 2);
    }
  } else {
    const std::vector<int64_t> padding = c.integers("padding", count);
    if (!CheckWindow(c, window, padding)) return layer.x;
    for (size_t i = 0; i < count; ++i)
      window.low[i] = window.high[i] = Dim(padding[i]);
  }
  return Finish(layer, ops::Conv(ops::ToChannelsLast(layer.x),
                                 KernelLast(layer.weight, false), layer.bias,
                                 {.window = window, .groups = layer.groups}));
}
Tensor Conv1d(Call& c) { return Convolve(c, 3); }
Tensor Conv2d(Call& c) { return Convolve(c, 4); }
Tensor Conv3d(Call& c) { return Convolve(c, 5); }

Tensor ConvolveTransposed(Call& c, int rank) {
  Layer layer;
  if (!ReadLayer(c, rank, layer)) return layer.x;
  ops::ConvTransposeSpec spec{.window = ops::WindowOf(KernelOf(layer)),
                              .output_padding = {},
                              .groups = layer.groups};
  const auto count = static_cast<size_t>(spec.window.rank());
  spec.window.strides = c.integers("stride", count);
  spec.window.dilations = c.integers("dilation", count);
  const std::vector<int64_t> padding = c.integers("padding", count);
  spec.output_padding = c.integers("output_padding", count);
  if (!CheckWindow(c, spec.window, padding) ||
      !CheckWindow(c, spec.window, spec.output_padding))
    return layer.x;
  for (size_t i = 0; i < count; ++i)
    spec.window.low[i] = spec.window.high[i] = Dim(padding[i]);
  // KernelLast transposes the weight [I, O / groups, spatial…] to [spatial…, I,
  // O / groups].
  return Finish(layer, ops::ConvTranspose(ops::ToChannelsLast(layer.x),
                                          KernelLast(layer.weight, true),
                                          layer.bias, spec));
}
Tensor ConvTranspose1d(Call& c) { return ConvolveTransposed(c, 3); }
Tensor ConvTranspose2d(Call& c) { return ConvolveTransposed(c, 4); }
Tensor ConvTranspose3d(Call& c) { return ConvolveTransposed(c, 5); }
Tensor ConvolutionByMode(Call& c) { return Convolve(c, 0); }
Tensor Convolution(Call& c) {
  return c.flag("transposed") ? ConvolveTransposed(c, 0) : Convolve(c, 0);
}

// Imports torchvision's deform_conv2d, for images in batches.
Tensor DeformConv2d(Call& c) {
  Layer layer;
  if (!ReadLayer(c, 4, layer)) return layer.x;
  const Tensor offsets = c.tensor("offset");
  const Tensor mask = c.flag("use_mask") ? c.tensor("mask") : Tensor();
  ops::DeformConvSpec spec{.window = ops::WindowOf(KernelOf(layer)),
                           .groups = layer.groups,
                           .offset_groups = c.integer("offset_groups")};
  spec.window.strides = {c.integer("stride_h"), c.integer("stride_w")};
  spec.window.dilations = {c.integer("dilation_h"), c.integer("dilation_w")};
  const std::vector<int64_t> padding{c.integer("pad_h"), c.integer("pad_w")};
  if (!c.ok() || !CheckWindow(c, spec.window, padding) ||
      !c.CheckRank("offset", offsets, 4, 4) ||
      (mask && !c.CheckRank("mask", mask, 4, 4)))
    return layer.x;
  if (!layer.is_batched || spec.offset_groups < 1 ||
      spec.offset_groups > ops::kMaxWindow) {
    c.FailInvalid(
        "expected an input of rank 4, and offset_groups of 1 to 2^24");
    return layer.x;
  }
  for (size_t i = 0; i < 2; ++i)
    spec.window.low[i] = spec.window.high[i] = Dim(padding[i]);
  return ops::DeformConv({.x = layer.x,
                          .w = layer.weight,
                          .offsets = offsets,
                          .mask = mask,
                          .bias = layer.bias},
                         spec);
}

#define EMBER_TORCH_CONV                                              \
  "(Tensor input, Tensor weight, Tensor? bias=None, int[] stride=1, " \
  "int[] padding=0, int[] dilation=1, int groups=1)"
#define EMBER_TORCH_CONV_SAME                                         \
  "(Tensor input, Tensor weight, Tensor? bias=None, int[] stride=1, " \
  "str padding='valid', int[] dilation=1, int groups=1)"
#define EMBER_TORCH_CONV_TRANSPOSED                                   \
  "(Tensor input, Tensor weight, Tensor? bias=None, int[] stride=1, " \
  "int[] padding=0, int[] output_padding=0, int groups=1, "           \
  "int[] dilation=1)"

constexpr OperatorRow kRows[] = {
    {"conv1d" EMBER_TORCH_CONV, Conv1d},
    {"conv1d" EMBER_TORCH_CONV_SAME, Conv1d},
    {"conv2d" EMBER_TORCH_CONV, Conv2d},
    {"conv2d" EMBER_TORCH_CONV_SAME, Conv2d},
    {"conv3d" EMBER_TORCH_CONV, Conv3d},
    {"conv3d" EMBER_TORCH_CONV_SAME, Conv3d},
    {"conv_transpose1d" EMBER_TORCH_CONV_TRANSPOSED, ConvTranspose1d},
    {"conv_transpose2d" EMBER_TORCH_CONV_TRANSPOSED, ConvTranspose2d},
    {"conv_transpose3d" EMBER_TORCH_CONV_TRANSPOSED, ConvTranspose3d},
    {"convolution(Tensor input, Tensor weight, Tensor? bias, int[] stride, "
     "int[] padding, int[] dilation, bool transposed, int[] output_padding, "
     "int groups)",
     Convolution},
    {"_convolution(Tensor input, Tensor weight, Tensor? bias, int[] stride, "
     "int[] padding, int[] dilation, bool transposed, int[] output_padding, "
     "int groups, bool benchmark, bool deterministic, bool cudnn_enabled, "
     "bool allow_tf32=True)",
     Convolution},
    {"_convolution_mode(Tensor input, Tensor weight, Tensor? bias, "
     "int[] stride, str padding, int[] dilation, int groups)",
     ConvolutionByMode},
    {"torchvision::deform_conv2d(Tensor input, Tensor weight, Tensor offset, "
     "Tensor mask, Tensor bias, int stride_h, int stride_w, int pad_h, "
     "int pad_w, int dilation_h, int dilation_w, int groups, "
     "int offset_groups, bool use_mask)",
     DeformConv2d},
};

}  // namespace

std::span<const OperatorRow> ConvolutionRows() { return kRows; }

}  // namespace ember::torchscript
