// Resizing images [N, H, W, C].
#include "frontends/ops/resize.h"

#include <optional>
#include <string>
#include <vector>

#include "frontends/tflite/operator_table.h"

namespace ember::tflite {
namespace {

void ImportResize(OperatorContext& c, const ops::ResizeSpec& spec) {
  if (!c.CheckRank(0, 4, 4)) return;
  const std::optional<Shape> sizes = c.Sizes(1, "size");
  if (!sizes) return;
  if (sizes->size() != 2) {
    return c.FailInvalid("size (input 1): expected 2 values, found " +
                         std::to_string(sizes->size()));
  }
  const Tensor x = c.Input(0);
  std::vector<ops::ResizedAxis> axes;
  for (int i = 0; i < 2; ++i) {
    ops::ResizedAxis axis;
    axis.axis = i + 1;
    axis.in = x.dim(i + 1);
    axis.out = (*sizes)[i];
    const auto in = axis.in.AsConstant(), out = axis.out.AsConstant();
    if ((in && *in < 1) || (out && *out < 1))
      return c.FailInvalid("expected extents of at least 1");
    if (in && out)
      axis.scale = static_cast<double>(*out) / static_cast<double>(*in);
    axes.push_back(axis);
  }
  c.SetOutput(0, ops::ResizeAxes(spec, axes, x));
}

std::string Coordinates(bool align_corners, const std::string& half_pixel,
                        bool half_pixel_centers) {
  if (align_corners) return "align_corners";
  return half_pixel_centers ? half_pixel : "asymmetric";
}

}  // namespace

void ImportResizeBilinear(OperatorContext& c) {
  const auto& o = c.Options<schema::ResizeBilinearOptions>();
  ops::ResizeSpec spec;
  spec.mode = "linear";
  spec.coordinates =
      Coordinates(o.align_corners(), "half_pixel", o.half_pixel_centers());
  ImportResize(c, spec);
}

void ImportResizeNearest(OperatorContext& c) {
  const auto& o = c.Options<schema::ResizeNearestNeighborOptions>();
  ops::ResizeSpec spec;
  spec.mode = "nearest";
  spec.coordinates = Coordinates(o.align_corners(), "tf_half_pixel_for_nn",
                                 o.half_pixel_centers());
  spec.nearest = o.align_corners() ? "round_prefer_ceil" : "floor";
  ImportResize(c, spec);
}

}  // namespace ember::tflite
