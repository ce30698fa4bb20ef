// Imports RoiAlign: regions of interest, sampled with interpolation.
#include "frontends/ops/roi_align.h"

#include <optional>
#include <string>

#include "frontends/onnx/operators/families.h"
#include "frontends/ops/compositions.h"

namespace ember::onnx {
namespace {

std::optional<ops::RoiAlignSpec> ReadOptions(NodeContext& c) {
  ops::RoiAlignSpec options;
  const std::string mode = c.String("mode", "avg");
  const std::string transformation =
      c.String("coordinate_transformation_mode",
               c.opset() < 16 ? "output_half_pixel" : "half_pixel");
  options.maximum = mode == "max";
  options.half_pixel = transformation == "half_pixel";
  options.samples = c.Integer("sampling_ratio", 0);
  options.scale = c.Float("spatial_scale", 1);
  if (mode != "avg" && mode != "max") {
    c.FailInvalid("attribute 'mode': expected avg or max, found '" + mode +
                  "'");
    return std::nullopt;
  }
  if (!options.half_pixel && transformation != "output_half_pixel") {
    c.FailInvalid(
        "attribute 'coordinate_transformation_mode': expected half_pixel or "
        "output_half_pixel, found '" +
        transformation + "'");
    return std::nullopt;
  }
  if (options.samples < 0 || options.samples > 4096) {
    c.FailInvalid("attribute 'sampling_ratio': expected 0 to 4096, found " +
                  std::to_string(options.samples));
    return std::nullopt;
  }
  return options;
}

void ImportRoiAlign(NodeContext& c) {
  if (!c.CheckRank(0, 4, 4) || !c.CheckRank(1, 2, 2) || !c.CheckRank(2, 1, 1))
    return;
  const std::optional<ops::RoiAlignSpec> options = ReadOptions(c);
  if (!options) return;
  const DType result_type = c.Input(0).dtype();
  const DType type = ComputeType(result_type);
  Tensor x = Cast(c.Input(0), type);
  Tensor rois = WithDim(Cast(c.Input(1), type), 1, Dim(4));
  Tensor batch = WithDim(Cast(c.Input(2), DType::kI64), 0, rois.dim(0));
  if (rois.dim(1) != Dim(4)) {
    return c.FailInvalid(
        "rois (input 1): expected 4 numbers per region, found " +
        rois.dim(1).ToString());
  }
  const int64_t bins[] = {c.Integer("output_height", 1),
                          c.Integer("output_width", 1)};
  for (const int64_t count : bins) {
    if (count < 1) {
      return c.FailInvalid("output_height, output_width: expected at least 1");
    }
  }
  ops::RoiAlignSpec spec = *options;
  spec.bins = {bins[0], bins[1]};
  Tensor y = ops::RoiAlign(x, rois, batch, spec);
  c.SetOutput(0, Cast(y, result_type));
}

constexpr OperatorRow kRows[] = {
    {"RoiAlign", 10, 3, 3, ImportRoiAlign},
};

}  // namespace

std::span<const OperatorRow> RoiAlignOperators() { return kRows; }

}  // namespace ember::onnx
