// Imports convolutions of every kind, in one to three dims.
#include "frontends/ops/convolution.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/one_line.h"
#include "frontends/keras/activation.h"
#include "frontends/keras/layer_table.h"
#include "frontends/keras/spatial.h"
#include "frontends/ops/windows.h"

namespace ember::keras {
namespace {

using ops::Window;

Tensor BiasOf(LayerContext& c) {
  return c.config().Flag("use_bias", true) ? c.Weight("bias", 1) : Tensor();
}

// Returns the window of a kernel whose leading dims are the spatial ones;
// nullopt if one of these is open, or after an error.
std::optional<Window> WindowOfKernel(LayerContext& c, Tensor kernel,
                                     const Shape& spatial) {
  std::vector<int64_t> extents;
  for (size_t i = 0; i < spatial.size(); ++i) {
    const Dim& extent = kernel.dim(static_cast<int>(i));
    if (!extent.is_constant()) return std::nullopt;
    extents.push_back(extent.constant());
    if (!c.CheckPositive("kernel_size", extents.back())) return std::nullopt;
  }
  return MakeWindow(c, std::move(extents), "strides", 1, spatial);
}

// Reshapes [window…, C, m] to [window…, 1, C * m], for one group per channel.
Tensor DepthwiseKernel(Tensor kernel) {
  Shape shape = kernel.shape();
  const Dim multiplier = shape.back();
  shape.pop_back();
  const Dim channels = shape.back();
  shape.back() = Dim(1);
  shape.push_back(channels * multiplier);
  return Reshape(kernel, shape);
}

std::optional<int64_t> ConstantChannels(LayerContext& c, Tensor x,
                                        Tensor kernel) {
  const Dim& channels = kernel.dim(-2);
  if (!c.ok() || !channels.is_constant()) return std::nullopt;
  if (x.dim(-1).is_constant() && x.dim(-1) != channels) {
    c.FailInvalid("expected " + channels.ToString() + " channels, found " +
                  x.dim(-1).ToString());
    return std::nullopt;
  }
  return channels.constant();
}

}  // namespace

void ImportConv(LayerContext& c) {
  const int spatial = SpatialRank(c);
  if (!c.CheckRank(0, spatial + 2, spatial + 2)) return;
  const Tensor x = AsChannelsLast(c, c.Input(0));
  const Tensor kernel = c.Weight("kernel", spatial + 2);
  if (!c.ok()) return;
  const auto window = WindowOfKernel(c, kernel, SpatialDims(x));
  const int64_t groups = c.config().Integer("groups", 1);
  if (!window || !c.CheckPositive("groups", groups)) return;
  const Tensor y =
      ops::Conv(x, kernel, BiasOf(c), {.window = *window, .groups = groups});
  c.SetOutput(FromChannelsLast(c, Activated(c, y)));
}

void ImportDepthwiseConv(LayerContext& c) {
  const int spatial = SpatialRank(c);
  if (!c.CheckRank(0, spatial + 2, spatial + 2)) return;
  const Tensor x = AsChannelsLast(c, c.Input(0));
  const Tensor kernel = c.Weight("depthwise_kernel", spatial + 2);
  const auto channels = ConstantChannels(c, x, kernel);
  if (!channels) return;
  const auto window = WindowOfKernel(c, kernel, SpatialDims(x));
  if (!window) return;
  const Tensor y = ops::Conv(x, DepthwiseKernel(kernel), BiasOf(c),
                             {.window = *window, .groups = *channels});
  c.SetOutput(FromChannelsLast(c, Activated(c, y)));
}

void ImportSeparableConv(LayerContext& c) {
  const int spatial = SpatialRank(c);
  if (!c.CheckRank(0, spatial + 2, spatial + 2)) return;
  const Tensor x = AsChannelsLast(c, c.Input(0));
  const Tensor depthwise = c.Weight("depthwise_kernel", spatial + 2);
  const Tensor pointwise = c.Weight("pointwise_kernel", spatial + 2);
  const auto channels = ConstantChannels(c, x, depthwise);
  if (!channels) return;
  const auto window = WindowOfKernel(c, depthwise, SpatialDims(x));
  if (!window) return;
  const Tensor filtered = ops::Conv(x, DepthwiseKernel(depthwise), Tensor(),
                                    {.window = *window, .groups = *channels});
  const Tensor y = ops::Conv(filtered, pointwise, BiasOf(c),
                             {.window = ops::WindowOf(std::vector<int64_t>(
                                  static_cast<size_t>(spatial), 1))});
  c.SetOutput(FromChannelsLast(c, Activated(c, y)));
}

// Imports a transposed convolution. The kernel is [window…, O, C].
void ImportConvTranspose(LayerContext& c) {
  const int spatial = SpatialRank(c);
  if (!c.CheckRank(0, spatial + 2, spatial + 2)) return;
  const Tensor x = AsChannelsLast(c, c.Input(0));
  Tensor kernel = c.Weight("kernel", spatial + 2);
  if (!c.ok()) return;
  const std::string padding = c.config().Text("padding", "valid");
  if (padding != "valid" && padding != "same")
    return c.FailInvalid("padding: expected valid or same, found '" +
                         OnOneLine(padding) + "'");
  const auto count = static_cast<size_t>(spatial);
  ops::ConvTransposeSpec spec;
  std::vector<int64_t> extents;
  for (int i = 0; i < spatial; ++i)
    extents.push_back(kernel.dim(i).AsConstant().value_or(0));
  spec.window = ops::WindowOf(extents);
  spec.window.strides = c.config().Integers("strides", count, 1);
  spec.window.dilations = c.config().Integers("dilation_rate", count, 1);
  for (int i = 0; i < spatial; ++i) {
    const auto at = static_cast<size_t>(i);
    if (!c.CheckPositive("kernel_size", extents[at]) ||
        !c.CheckPositive("strides", spec.window.strides[at]) ||
        !c.CheckPositive("dilation_rate", spec.window.dilations[at]))
      return;
  }
  std::vector<int64_t> extra;
  const bool has_extra = c.config().Has("output_padding");
  if (has_extra) extra = c.config().Integers("output_padding", count, 0);
  spec.output_padding.assign(count, 0);
  for (int i = 0; i < spatial; ++i) {
    const auto at = static_cast<size_t>(i);
    const int64_t stride = spec.window.strides[at];
    const int64_t reach = spec.window.Reach(i);
    if (has_extra && (extra[at] < 0 || extra[at] >= stride)) {
      return c.FailInvalid("output_padding: expected less than the stride, " +
                           std::to_string(stride) + ", found " +
                           std::to_string(extra[at]));
    }
    // `extent`: number of elements of the result at and after position (input -
    // 1) * stride, where the last window begins. `reach`: number of elements
    // that this window covers.
    int64_t extent = 0;
    if (has_extra) {
      const int64_t pad = padding == "same" ? reach / 2 : 0;
      extent = reach - 2 * pad + extra[at];
    } else {
      extent = padding == "same" ? stride : std::max(stride, reach);
    }
    // A transposed convolution is the gradient of a convolution, and its
    // padding is that of this convolution, as in TensorFlow.
    const int64_t cut = std::max<int64_t>(reach - extent, 0);
    const int64_t low = padding == "same" ? cut / 2 : 0;
    spec.window.low[at] = Dim(low);
    spec.window.high[at] = Dim(cut - low);
    spec.output_padding[at] = std::max<int64_t>(extent - reach, 0);
  }
  std::vector<int64_t> order;
  for (int i = 0; i < spatial; ++i) order.push_back(i);
  order.push_back(spatial + 1);
  order.push_back(spatial);
  kernel = Transpose(kernel, order);
  const Tensor y = ops::ConvTranspose(x, kernel, BiasOf(c), spec);
  c.SetOutput(FromChannelsLast(c, Activated(c, y)));
}

// Imports a locally connected layer. Each output position has its own kernel,
// and the weights are [positions, window * C, O] (implementation 1). The
// elements of a window are in the order (channel, window).
void ImportLocallyConnected(LayerContext& c) {
  const int spatial = SpatialRank(c);
  if (!c.CheckRank(0, spatial + 2, spatial + 2)) return;
  if (c.config().Integer("implementation", 1) != 1)
    return c.FailUnsupported("implementation: expected 1, found another");
  const auto count = static_cast<size_t>(spatial);
  const Tensor x = AsChannelsLast(c, c.Input(0));
  const Tensor kernel = c.Weight("kernel", 3);
  const std::vector<int64_t> window =
      c.config().Integers("kernel_size", count, std::nullopt);
  const std::vector<int64_t> strides = c.config().Integers("strides", count, 1);
  if (!c.ok()) return;
  // Gathers the elements under each window: [N, positions…, window…, C].
  Tensor patches = x;
  Shape places;
  for (int i = 0; i < spatial; ++i) {
    const auto at = static_cast<size_t>(i);
    if (!c.CheckPositive("kernel_size", window[at]) ||
        !c.CheckPositive("strides", strides[at]))
      return;
    const Dim out =
        FloorDivide(x.dim(1 + i) - Dim(window[at]), Dim(strides[at])) + Dim(1);
    places.push_back(out);
    const Tensor starts = IotaVector(c.builder(), out, DType::kI64) *
                          static_cast<double>(strides[at]);
    const Tensor steps = IotaVector(c.builder(), Dim(window[at]), DType::kI64);
    const Tensor indices = Unsqueeze(starts, {1}) + Unsqueeze(steps, {0});
    // Replaces the i-th spatial dim, which is at 1 + 2i by now, by two dims:
    // the position of the window, and the element in the window.
    patches = Gather(patches, indices, 1 + 2 * i);
  }
  if (!c.ok()) return;
  // Permutes [N, p0, w0, p1, w1, C] to [N, p0, p1, w0, w1, C], where p are
  // positions and w elements of a window.
  std::vector<int64_t> order{0};
  for (int i = 0; i < spatial; ++i) order.push_back(1 + 2 * i);
  for (int i = 0; i < spatial; ++i) order.push_back(2 + 2 * i);
  order.push_back(1 + 2 * spatial);
  patches = Transpose(patches, order);
  const Dim all = graph::ElementCount(places);
  const Tensor rows = Reshape(patches, {x.dim(0), all, kernel.dim(1)});
  Tensor y = Contract(rows, kernel, "bpi,pio->bpo");
  Shape shape{x.dim(0)};
  shape.insert(shape.end(), places.begin(), places.end());
  shape.push_back(kernel.dim(2));
  y = Reshape(y, shape);
  if (c.config().Flag("use_bias", true)) y = y + c.Weight("bias");
  c.SetOutput(FromChannelsLast(c, Activated(c, y)));
}

}  // namespace ember::keras
