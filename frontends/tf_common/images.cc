#include "frontends/tf_common/images.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace ember::tf_common {
namespace {

std::string Coordinates(bool align_corners, const std::string& half_pixel,
                        bool half_pixel_centers) {
  if (align_corners) return "align_corners";
  return half_pixel_centers ? half_pixel : "asymmetric";
}

}  // namespace

void ImportResize(OperatorBase& c, const ops::ResizeSpec& spec) {
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

void ImportResizeBilinear(OperatorBase& c, bool align_corners,
                          bool half_pixel_centers) {
  ops::ResizeSpec spec;
  spec.mode = "linear";
  spec.coordinates =
      Coordinates(align_corners, "half_pixel", half_pixel_centers);
  ImportResize(c, spec);
}

void ImportResizeNearest(OperatorBase& c, bool align_corners,
                         bool half_pixel_centers) {
  ops::ResizeSpec spec;
  spec.mode = "nearest";
  spec.coordinates =
      Coordinates(align_corners, "tf_half_pixel_for_nn", half_pixel_centers);
  spec.nearest = align_corners ? "round_prefer_ceil" : "floor";
  ImportResize(c, spec);
}

// Appends rows of zeros to x, up to `count` rows.
Tensor FilledUp(Tensor x, const Dim& count) {
  Shape low(x.rank(), Dim(0)), high(x.rank(), Dim(0));
  high[0] = count - x.dim(0);
  return Pad(x, low, high, "constant", x.Like(0));
}

void ImportPaddedSuppression(OperatorBase& c, bool soft) {
  if (!c.CheckRank(0, 2, 2) || !c.CheckRank(1, 1, 1)) return;
  const auto most = c.Sizes(2, "max_output_size");
  if (!most) return;
  if (soft) {
    const auto sigma = c.ConstantNumbers(5, "soft_nms_sigma");
    if (!sigma) return;
    if (sigma->size() != 1 || sigma->front() != 0)
      return c.FailUnsupported("soft_nms_sigma: expected 0");
  }
  const Tensor scores = c.Input(1);
  const Tensor kept =
      KeptBoxes(c.Input(0), scores, c.Input(3), c.Input(4), most->front(), 0);
  if (!c.ok()) return;
  c.SetOutput(0, Cast(FilledUp(kept, most->front()), c.OutputType(0)));
  if (soft) c.SetOutput(1, FilledUp(Gather(scores, kept, 0), most->front()));
  const int count = soft ? 2 : 1;
  c.SetOutput(count,
              Cast(DimScalar(c.builder(), kept.dim(0)), c.OutputType(count)));
}

std::optional<FakeQuantRange> NudgedRange(OperatorBase& c, float low,
                                          float high, int64_t bits,
                                          bool narrow_range) {
  if (bits < 2 || bits > 16 || !(low <= 0) || !(high >= 0) || !(low < high)) {
    c.FailInvalid("expected 2 to 16 bits and a range that holds 0, found " +
                  std::to_string(bits) + " bits and " + std::to_string(low) +
                  " to " + std::to_string(high));
    return std::nullopt;
  }
  const auto lowest = static_cast<float>(narrow_range ? 1 : 0);
  const auto highest = static_cast<float>((1 << bits) - 1);
  const float scale = (high - low) / (highest - lowest);
  const float zero =
      std::clamp(std::round(lowest - low / scale), lowest, highest);
  return FakeQuantRange{(lowest - zero) * scale, (highest - zero) * scale,
                        scale};
}

Tensor FakeQuantized(Tensor x, Tensor low, Tensor high, Tensor step) {
  const Tensor inside = Minimum(Maximum(x, low), high);
  return Floor((inside - low) / step + 0.5) * step + low;
}

}  // namespace ember::tf_common
