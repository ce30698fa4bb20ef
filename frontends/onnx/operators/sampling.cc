// Operators that sample images at computed positions: GridSample, AffineGrid,
// Col2Im.
#include "frontends/ops/sampling.h"

#include <optional>
#include <string>
#include <vector>

#include "frontends/onnx/operators/families.h"
#include "frontends/ops/windows.h"

namespace ember::onnx {
namespace {

std::optional<ops::GridSampleSpec> ReadGridSpec(NodeContext& c) {
  ops::GridSampleSpec spec;
  spec.mode = c.String("mode", c.opset() < 20 ? "bilinear" : "linear");
  if (spec.mode == "bilinear") spec.mode = "linear";
  if (spec.mode == "bicubic") spec.mode = "cubic";
  spec.padding = c.String("padding_mode", "zeros");
  spec.align_corners = c.Integer("align_corners", 0) != 0;
  if (spec.mode != "nearest" && spec.mode != "linear" && spec.mode != "cubic") {
    c.FailInvalid(
        "attribute 'mode': expected nearest, linear or cubic, found '" +
        spec.mode + "'");
    return std::nullopt;
  }
  if (spec.padding != "zeros" && spec.padding != "border" &&
      spec.padding != "reflection") {
    c.FailInvalid(
        "attribute 'padding_mode': expected zeros, border or reflection, found "
        "'" +
        spec.padding + "'");
    return std::nullopt;
  }
  return spec;
}

void ImportGridSample(NodeContext& c) {
  if (!c.CheckRank(0, 3, 5) ||
      !c.CheckRank(1, c.Input(0).rank(), c.Input(0).rank()))
    return;
  const std::optional<ops::GridSampleSpec> spec = ReadGridSpec(c);
  if (!spec) return;
  c.SetOutput(0, ops::GridSample(c.Input(0), c.Input(1), *spec));
}

void ImportAffineGrid(NodeContext& c) {
  if (!c.CheckRank(0, 3, 3)) return;
  const std::optional<Shape> size = c.Sizes(1, "size");
  if (!size) return;
  if (size->size() < 3 || size->size() > 5)
    return c.FailInvalid("size (input 1): expected 3 to 5 elements, found " +
                         std::to_string(size->size()));
  const Shape points(size->begin() + 2, size->end());
  c.SetOutput(0, ops::AffineGrid(c.Input(0), points,
                                 c.Integer("align_corners", 0) != 0));
}

void ImportCol2Im(NodeContext& c) {
  if (!c.CheckRank(0, 3, 3)) return;
  const std::optional<Shape> image = c.Sizes(1, "image_shape");
  const auto block = c.ConstantIntegers(2, "block_shape");
  if (!image || !block) return;
  const size_t rank = block->size();
  const std::vector<int64_t> strides =
      c.Integers("strides", std::vector<int64_t>(rank, 1));
  const std::vector<int64_t> dilations =
      c.Integers("dilations", std::vector<int64_t>(rank, 1));
  const std::vector<int64_t> pads =
      c.Integers("pads", std::vector<int64_t>(2 * rank, 0));
  if (image->size() != rank || strides.size() != rank ||
      dilations.size() != rank || pads.size() != 2 * rank) {
    return c.FailInvalid(
        "expected image_shape, strides, dilations and pads for " +
        std::to_string(rank) + " dims");
  }
  const auto fits = [](int64_t value, int64_t least) {
    return value >= least && value <= ops::kMaxWindow;
  };
  ops::Window window;
  for (size_t i = 0; i < rank; ++i) {
    if (!fits(strides[i], 1) || !fits(dilations[i], 1) || !fits(pads[i], 0) ||
        !fits(pads[rank + i], 0))
      return c.FailInvalid("strides, dilations or pads out of range");
    window.low.push_back(Dim(pads[i]));
    window.high.push_back(Dim(pads[rank + i]));
  }
  window.kernel = *block;
  window.strides = strides;
  window.dilations = dilations;
  c.SetOutput(0, ops::ColumnsToImage(c.Input(0), *image, window));
}

constexpr OperatorRow kRows[] = {
    {"AffineGrid", 20, 2, 2, ImportAffineGrid},
    {"Col2Im", 18, 3, 3, ImportCol2Im},
    {"GridSample", 16, 2, 2, ImportGridSample},
    {.name = "GridSample",
     .since = 1,
     .minimum_inputs = 2,
     .maximum_inputs = 2,
     .import = ImportGridSample,
     .domain = "com.microsoft",
     .as_opset = 16},
};

}  // namespace

std::span<const OperatorRow> SamplingOperators() { return kRows; }

}  // namespace ember::onnx
