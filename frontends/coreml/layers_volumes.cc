// Imports layers that work on volumes, [N, C, depth, rows, columns].
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "frontends/coreml/layer_table.h"
#include "frontends/ops/convolution.h"
#include "frontends/ops/pooling.h"

namespace ember::coreml {
namespace {

using ops::Window;

// Reads three consecutive fields; a field that is 0 has the value `otherwise`.
// Returns false after an error.
bool ReadTriple(LayerContext& c, std::string_view what, uint64_t first,
                int64_t otherwise, std::vector<int64_t>& values) {
  values.clear();
  for (uint64_t field = first; field < first + 3; ++field) {
    const int64_t value = c.parameters().Integer(field);
    values.push_back(value == 0 ? otherwise : value);
    if (!c.CheckRange(what, values.back())) return false;
  }
  return true;
}

// Reads padding: custom, valid or same; six amounts from field `amounts` on.
// Returns false after an error.
bool ReadPadding(LayerContext& c, uint64_t type, uint64_t amounts,
                 Window& window) {
  const ProtobufView& p = c.parameters();
  const int64_t kind = p.Integer(type);
  if (!c.CheckRange("paddingType", kind, 0, 2)) return false;
  const Tensor x = c.Input(0);
  if (kind == 2)
    ops::PadSame(Shape(x.shape().begin() + 2, x.shape().end()),
                 /*upper=*/true, window);
  for (uint64_t i = 0; kind == 0 && i < 3; ++i) {
    const int64_t before = p.Integer(amounts + 2 * i),
                  behind = p.Integer(amounts + 2 * i + 1);
    if (!c.CheckRange("customPadding", before, 0) ||
        !c.CheckRange("customPadding", behind, 0))
      return false;
    window.low[i] = Dim(before);
    window.high[i] = Dim(behind);
  }
  return true;
}

void Pool(LayerContext& c, int64_t type, const Window& window,
          bool include_pad) {
  if (!c.CheckRange("type", type, 0, 1)) return;
  c.SetOutput(0, type == 0 ? ReduceWindow(c.Input(0), "maximum", window, 2)
                           : AveragePool(c.Input(0), window, 2, include_pad));
}

}  // namespace

void ImportConvolution3d(LayerContext& c) {
  const ProtobufView& p = c.parameters();
  if (!c.CheckRank(0, 5, 5)) return;
  const Tensor x = c.Input(0);
  const auto channels = c.Extent(x, 1);
  std::vector<int64_t> kernel, strides, dilations;
  if (!channels || !ReadTriple(c, "kernel", 20, 1, kernel) ||
      !ReadTriple(c, "stride", 31, 1, strides) ||
      !ReadTriple(c, "dilation", 40, 1, dilations))
    return;
  const int64_t outputs = p.Integer(1);
  const int64_t groups = std::max<int64_t>(p.Integer(10), 1);
  if (!c.CheckGroups(*channels, outputs, groups)) return;
  if (p.Flag(86) && !p.Integers(87).empty())
    return c.FailUnsupported("outputShape: expected none, found one");
  Window window = ops::WindowOf(kernel);
  window.strides = strides;
  window.dilations = dilations;
  if (p.Flag(86) && p.Integer(70) == 2)
    return c.FailUnsupported(
        "paddingType: expected custom or valid of a deconvolution, found same");
  if (!ReadPadding(c, 70, 80, window)) return;
  const Tensor bias = p.Flag(50) ? c.Weights(p, 61, {outputs}) : Tensor();
  const bool transposed = p.Flag(86);
  std::vector<int64_t> dims = {outputs, *channels / groups};
  if (transposed) dims = {*channels, outputs / groups};
  dims.insert(dims.end(), kernel.begin(), kernel.end());
  const Tensor w = c.Weights(p, 60, dims);
  const Tensor images = ops::ToChannelsLast(x);
  if (!c.ok()) return;
  const Tensor y =
      transposed ? ops::ConvTranspose(images, Transpose(w, {2, 3, 4, 0, 1}),
                                      bias, {window, {0, 0, 0}, groups})
                 : ops::Conv(images, Transpose(w, {2, 3, 4, 1, 0}), bias,
                             {window, groups});
  c.SetOutput(0, ops::ToChannelsFirst(y));
}

void ImportPooling3d(LayerContext& c) {
  const ProtobufView& p = c.parameters();
  if (!c.CheckRank(0, 5, 5)) return;
  std::vector<int64_t> kernel, strides;
  if (!ReadTriple(c, "kernel", 2, 1, kernel) ||
      !ReadTriple(c, "stride", 5, 1, strides))
    return;
  Window window = ops::WindowOf(kernel);
  window.strides = strides;
  if (!ReadPadding(c, 15, 8, window)) return;
  Pool(c, p.Integer(1), window, /*include_pad=*/!p.Flag(14));
}

void ImportGlobalPooling3d(LayerContext& c) {
  if (!c.CheckRank(0, 5, 5)) return;
  const auto extents = c.Extents(c.Input(0), 2, 5);
  if (extents)
    Pool(c, c.parameters().Integer(1), ops::WindowOf(*extents), true);
}

}  // namespace ember::coreml
