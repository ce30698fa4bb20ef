// Imports convolutions. ONNX is channels-first and the graph's convolutions are
// channels-last, so operands and results are transposed. A compiler pass
// cancels adjacent transposes.
#include "frontends/onnx/operators/convolution.h"

#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "frontends/onnx/operators/families.h"
#include "frontends/onnx/operators/quantization.h"
#include "frontends/onnx/operators/windows.h"
#include "frontends/ops/compositions.h"
#include "frontends/ops/dims.h"

namespace ember::onnx {
namespace {

// Returns weights in the layout of the graph's convolutions, in which the
// window's dims come first. `swap` is for Conv: [O, C/g, window…] → [window…,
// C/g, O]. ConvTranspose: [C, O/g, window…] → [window…, C, O/g].
Tensor WeightsToWindowFirst(Tensor w, bool swap) {
  std::vector<int64_t> permutation(w.rank() - 2);
  std::iota(permutation.begin(), permutation.end(), 2);
  permutation.push_back(swap ? 1 : 0);
  permutation.push_back(swap ? 0 : 1);
  return Transpose(w, std::move(permutation));
}

// Returns the extents of the window, which are those of the weights. They must
// equal the attribute kernel_shape, if it is given; the program checks open
// extents. Without the attribute, an open extent is returned as 1. The extents
// matter only for padding that is computed from the window (SAME,
// output_shape), which is then refused.
std::optional<std::vector<int64_t>> KernelOf(NodeContext& c, Tensor& w) {
  std::vector<int64_t> kernel;
  const std::optional<std::vector<int64_t>> stated = c.Integers("kernel_shape");
  if (stated && stated->size() + 2 == static_cast<size_t>(w.rank())) {
    for (int i = 2; i < w.rank(); ++i)
      w = WithDim(w, i, Dim((*stated)[static_cast<size_t>(i - 2)]));
  }
  bool is_open = false;
  for (int i = 2; i < w.rank(); ++i) {
    is_open = is_open || !w.dim(i).is_constant();
    kernel.push_back(w.dim(i).AsConstant().value_or(1));
  }
  const std::string auto_pad = c.String("auto_pad", "NOTSET");
  if (is_open &&
      (auto_pad.starts_with("SAME") || c.HasAttribute("output_shape"))) {
    c.FailUnsupported(
        "weights: expected a window that is known, for padding is made for it "
        "(SAME, output_shape), found " +
        graph::ShapeToString(w.shape()) + " (fix the dims: --shape)");
    return std::nullopt;
  }
  if (stated && *stated != kernel) {
    c.FailInvalid("attribute 'kernel_shape' differs from the weights " +
                  graph::ShapeToString(w.shape()));
    return std::nullopt;
  }
  return kernel;
}

bool CheckOperands(NodeContext& c, Tensor x, Tensor w, int64_t groups) {
  if (!c.ok()) return false;
  if (x.rank() < 3 || w.rank() != x.rank()) {
    c.FailInvalid("expected input and weights of one rank from 3 up, found " +
                  graph::ShapeToString(x.shape()) + " and " +
                  graph::ShapeToString(w.shape()));
    return false;
  }
  if (groups >= 1) return true;
  c.FailInvalid("attribute 'group': expected at least 1, found " +
                std::to_string(groups));
  return false;
}

Tensor Convolve(Tensor x, Tensor w, Tensor bias, const Window& window,
                int64_t groups) {
  return ToChannelsFirst(ops::Conv(ToChannelsLast(x),
                                   WeightsToWindowFirst(w, true), bias,
                                   {.window = window, .groups = groups}));
}

void ImportConv(NodeContext& c) {
  Tensor y = Convolution(c, c.Input(0), c.Input(1), c.Input(2));
  if (c.ok()) c.SetOutput(0, y);
}

// Chooses the padding of a ConvTranspose for which the result has the extents
// `outputs` (the attribute output_shape). If an extent is too large even for a
// padding of 0, zeros are appended to the result.
void PadForOutputShape(const Shape& spatial,
                       const std::vector<int64_t>& outputs, bool upper,
                       ops::ConvTransposeSpec& spec) {
  Window& window = spec.window;
  for (int i = 0; i < window.rank(); ++i) {
    const Dim natural = (spatial[i] - Dim(1)) * Dim(window.strides[i]) +
                        Dim(window.Reach(i)) + Dim(spec.output_padding[i]);
    const Dim excess = natural - Dim(outputs[i]);
    if (!excess.is_constant()) {
      ops::AppendIfShort(i, excess, spec);
    } else if (excess.constant() < 0) {
      spec.output_padding[i] -= excess.constant();
    }
    const Dim total = LargerOf(excess, Dim(0));
    const Dim half = FloorDivide(total, Dim(2));
    window.low[i] = upper ? half : total - half;
    window.high[i] = total - window.low[i];
  }
}

// Reads the pads from operand 2 into `window`, and leaves the window unchanged
// if the operand is absent. Returns false after an error.
bool ReadPadsInput(NodeContext& c, Window& window) {
  if (!c.Input(2)) return true;
  const std::optional<Shape> pads = c.Contents(2, "pads");
  if (!pads) return false;
  const size_t rank = window.kernel.size();
  if (pads->size() != 2 * rank) {
    c.FailInvalid("pads: expected " + std::to_string(2 * rank) +
                  " values, found " + std::to_string(pads->size()));
    return false;
  }
  window.low.assign(pads->begin(), pads->begin() + rank);
  window.high.assign(pads->begin() + rank, pads->end());
  return true;
}

// Reads the padding of a ConvTranspose. Returns false after an error.
bool ReadTransposedPadding(NodeContext& c, const Shape& spatial,
                           bool pads_are_input, ops::ConvTransposeSpec& spec) {
  Window& window = spec.window;
  const std::string auto_pad = c.String("auto_pad", "NOTSET");
  const bool upper = auto_pad == "SAME_UPPER";
  if (!auto_pad.empty() && auto_pad != "NOTSET" && auto_pad != "VALID" &&
      !upper && auto_pad != "SAME_LOWER") {
    c.FailInvalid(
        "attribute 'auto_pad': expected NOTSET, VALID, SAME_UPPER or "
        "SAME_LOWER, found '" +
        auto_pad + "'");
    return false;
  }
  std::optional<std::vector<int64_t>> outputs = c.Integers("output_shape");
  if (outputs && outputs->size() > spatial.size()) {
    outputs->erase(outputs->begin(), outputs->end() - spatial.size());
  }
  for (const int64_t extent : outputs.value_or(std::vector<int64_t>())) {
    if (extent >= 0 && extent < int64_t{1} << 40) continue;
    c.FailInvalid("attribute 'output_shape': found " + std::to_string(extent));
    return false;
  }
  if (!outputs && (upper || auto_pad == "SAME_LOWER")) {
    for (int i = 0; i < window.rank(); ++i) {
      // For SAME padding the output extent is input * stride, so the padding is
      // the part of the window that exceeds its stride.
      const int64_t total =
          window.Reach(i) + spec.output_padding[i] - window.strides[i];
      if (total < 0) spec.output_padding[i] -= total;
      const int64_t padding = std::max<int64_t>(total, 0);
      window.low[i] = Dim(upper ? padding / 2 : padding - padding / 2);
      window.high[i] = Dim(padding) - window.low[i];
    }
    return true;
  }
  if (!outputs && pads_are_input) return ReadPadsInput(c, window);
  if (!outputs) return auto_pad == "VALID" || ReadPads(c, window);
  if (outputs->size() != spatial.size()) {
    c.FailInvalid("attribute 'output_shape': expected " +
                  std::to_string(spatial.size()) + " values, found " +
                  std::to_string(outputs->size()));
    return false;
  }
  PadForOutputShape(spatial, *outputs, upper, spec);
  return true;
}

void ConvolveTransposed(NodeContext& c, Tensor bias, bool pads_are_input) {
  Tensor x = c.Input(0);
  Tensor w = c.Input(1);
  const int64_t groups = c.Integer("group", 1);
  if (!CheckOperands(c, x, w, groups)) return;
  const Shape spatial(x.shape().begin() + 2, x.shape().end());
  const std::optional<std::vector<int64_t>> kernel = KernelOf(c, w);
  if (!kernel) return;
  std::optional<Window> window = ReadWindowExtents(c, *kernel, x.rank() - 2);
  if (!window) return;
  const std::vector<int64_t> extension =
      c.Integers("output_padding", std::vector<int64_t>(spatial.size(), 0));
  if (extension.size() != spatial.size()) {
    return c.FailInvalid("attribute 'output_padding': expected " +
                         std::to_string(spatial.size()) + " values, found " +
                         std::to_string(extension.size()));
  }
  for (const int64_t extent : extension) {
    if (extent >= 0 && extent <= kMaxWindow) continue;
    return c.FailInvalid("attribute 'output_padding': found " +
                         std::to_string(extent));
  }
  ops::ConvTransposeSpec spec = {
      .window = *window, .output_padding = extension, .groups = groups};
  if (!ReadTransposedPadding(c, spatial, pads_are_input, spec)) return;
  const Tensor y = ops::ConvTranspose(
      ToChannelsLast(x), WeightsToWindowFirst(w, false), bias, spec);
  c.SetOutput(0, ToChannelsFirst(y));
}

void ImportConvTranspose(NodeContext& c) {
  ConvolveTransposed(c, c.Input(2), false);
}

void ImportConvTransposeWithDynamicPads(NodeContext& c) {
  ConvolveTransposed(c, c.Input(3), true);
}

// Reshapes zero points, one per output channel, so that they broadcast against
// the weights, whose dim 0 is the output channels.
Tensor AlongOutputs(Tensor parameter, Tensor w) {
  const bool per_channel =
      parameter && parameter.rank() == 1 && parameter.dim(0) != Dim(1);
  return per_channel ? AlongAxis(parameter, 0, w.rank()) : parameter;
}

void ImportConvInteger(NodeContext& c) {
  Tensor w = Centered(c.Input(1), AlongOutputs(c.Input(3), c.Input(1)));
  Tensor y = Convolution(c, Centered(c.Input(0), c.Input(2)), w, Tensor());
  if (c.ok()) c.SetOutput(0, y);
}

// Imports QLinearConv: y = saturate(round((conv(x - x0, w - w0) + bias) *
// (x_scale * w_scale / y_scale)) + y0). The bias may be absent.
void ImportQLinearConv(NodeContext& c) {
  // com.microsoft's QLinearConv may have its data with the channels last
  // (attribute channels_last). The layout of the weights is always the same.
  const bool channels_last = c.Integer("channels_last", 0) != 0;
  Tensor x = Centered(c.Input(0), c.Input(2));
  if (channels_last && c.CheckRank(0, 3)) x = ToChannelsFirst(x);
  Tensor w = Centered(c.Input(3), AlongOutputs(c.Input(5), c.Input(3)));
  Tensor accumulated = Convolution(c, x, w, c.Input(8));
  if (!c.ok()) return;
  Tensor w_scale = c.Input(4);
  if (w_scale.rank() == 1 && w_scale.dim(0) != Dim(1)) {
    w_scale = AlongAxis(w_scale, 1, accumulated.rank());
  }
  Tensor scale = c.Input(1) * w_scale / c.Input(6);
  Tensor y = RoundToQuantized(Cast(accumulated, DType::kF32) * scale,
                              c.Input(7), c.Input(7).dtype());
  c.SetOutput(0, channels_last ? ToChannelsLast(y) : y);
}

// Imports CausalConvWithState: a depthwise convolution over the past elements
// followed by the new ones. The last elements of this sequence are a result:
// the past of the next call.
void ImportCausalConvWithState(NodeContext& c) {
  if (!c.CheckRank(0, 3, 3) || !c.CheckRank(1, 3, 3)) return;
  Tensor x = c.Input(0);
  Tensor w = c.Input(1);
  const Dim past = w.dim(2) - Dim(1);
  Tensor padded = c.Input(3) ? Concat({c.Input(3), x}, 2)
                             : Pad(x, {Dim(0), Dim(0), past}, Shape(3, Dim(0)),
                                   "constant", x.Like(0));
  const std::optional<std::vector<int64_t>> kernel = KernelOf(c, w);
  if (!kernel) return;
  if (!w.dim(0).is_constant())
    return c.FailUnsupported("expected a constant number of channels");
  const std::optional<Window> window = ReadWindowExtents(c, *kernel, 1);
  if (!window) return;
  Tensor y = Convolve(padded, w, c.Input(2), *window, w.dim(0).constant());
  const std::string activation = c.String("activation", "none");
  if (activation == "silu" || activation == "swish") {
    y = Silu(y);
  } else if (activation != "none") {
    return c.FailInvalid(
        "attribute 'activation': expected none, silu or swish, found '" +
        activation + "'");
  }
  c.SetOutput(0, y);
  c.SetOutput(1, SliceAxis(padded, 2, padded.dim(2) - past, past));
}

constexpr OperatorRow kRows[] = {
    {"CausalConvWithState", 27, 2, 4, ImportCausalConvWithState},
    {"CausalConvWithState", 1, 2, 4, ImportCausalConvWithState,
     "com.microsoft"},
    {"Conv", 1, 2, 3, ImportConv},
    {"ConvInteger", 10, 2, 4, ImportConvInteger},
    {"ConvTranspose", 1, 2, 3, ImportConvTranspose},
    {"ConvTransposeWithDynamicPads", 1, 2, 4,
     ImportConvTransposeWithDynamicPads, "com.microsoft"},
    {"QLinearConv", 10, 8, 9, ImportQLinearConv},
    {"QLinearConv", 1, 8, 9, ImportQLinearConv, "com.microsoft"},
};

}  // namespace

Tensor Convolution(NodeContext& c, Tensor x, Tensor w, Tensor bias) {
  const int64_t groups = c.Integer("group", 1);
  if (!CheckOperands(c, x, w, groups)) return c.Wrap(nullptr);
  const std::optional<std::vector<int64_t>> kernel = KernelOf(c, w);
  if (!kernel) return c.Wrap(nullptr);
  const Shape spatial(x.shape().begin() + 2, x.shape().end());
  const std::optional<Window> window = ReadWindow(c, *kernel, spatial);
  if (!window) return c.Wrap(nullptr);
  return Convolve(x, w, bias, *window, groups);
}

std::span<const OperatorRow> ConvolutionOperators() { return kRows; }

}  // namespace ember::onnx
