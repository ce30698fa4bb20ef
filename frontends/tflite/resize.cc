// Imports operators that resize images [N, H, W, C].
#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "frontends/tf_common/images.h"
#include "frontends/tflite/operator_table.h"
#include "frontends/tflite/quantized.h"

namespace ember::tflite {
namespace {

// Number of fractional bits of positions and weights.
constexpr int kFractionBits = 10;
constexpr int64_t kOne = int64_t{1} << kFractionBits;
// Largest extent of an image in the integer kernel: positions with
// kFractionBits then fit in 32 bits.
constexpr int64_t kMaxExtent = 1 << 20;

// Resizes one dim of stored integers to `to` elements, by linear interpolation
// between two neighbours. Returns i32 with kFractionBits more fractional bits.
Tensor BetweenNeighbours(OperatorContext& c, Tensor x, int axis, int64_t to,
                         bool align_corners, bool half_pixel_centers) {
  const int64_t from = x.dim(axis).constant();
  const bool by_corners = align_corners && to > 1;
  const int64_t above = by_corners ? from - 1 : from;
  const int64_t below = by_corners ? to - 1 : to;
  const int64_t scale = (kOne * above + below / 2) / below;
  std::vector<int64_t> lower, upper;
  std::vector<int32_t> weights;
  for (int64_t i = 0; i < to; ++i) {
    const int64_t place =
        half_pixel_centers ? i * scale + scale / 2 - kOne / 2 : i * scale;
    lower.push_back(std::max<int64_t>(place / kOne, 0));
    upper.push_back(std::min((place + kOne - 1) / kOne, from - 1));
    weights.push_back(static_cast<int32_t>(place - kOne * lower.back()));
  }
  const Tensor weight =
      AlongAxis(c.Vector(DType::kI32, weights), axis, x.rank());
  const Tensor wide = Cast(x, DType::kI32);
  const Tensor low = Gather(wide, c.Vector(DType::kI64, lower), axis);
  const Tensor high = Gather(wide, c.Vector(DType::kI64, upper), axis);
  return low * (static_cast<double>(kOne) - weight) + high * weight;
}

// Sets result 0 to the resized image, computed in integers; halves are rounded
// away from zero.
void ResizeInIntegers(OperatorContext& c, const Shape& sizes,
                      bool align_corners, bool half_pixel_centers) {
  Tensor y = c.Input(0);
  for (int i = 0; i < 2; ++i) {
    y = BetweenNeighbours(c, y, i + 1, sizes[static_cast<size_t>(i)].constant(),
                          align_corners, half_pixel_centers);
  }
  const double half = static_cast<double>(kOne * kOne / 2);
  const Tensor rounded = Select(Less(0, y), y + half, y - half);
  c.SetOutput(
      0, Cast(rounded / static_cast<double>(kOne * kOne), c.OutputType(0)));
}

bool HasConstantExtent(const Dim& dim) {
  return dim.is_constant() && dim.constant() >= 1 &&
         dim.constant() <= kMaxExtent;
}

}  // namespace

// Imports RESIZE_BILINEAR. An i8 image is resized in integers if the result has
// the same scale and all extents are known; other images are resized in floats.
void ImportResizeBilinear(OperatorContext& c) {
  const auto& o = c.Options<schema::ResizeBilinearOptions>();
  const auto resize = [&] {
    tf_common::ImportResizeBilinear(c, o.align_corners(),
                                    o.half_pixel_centers());
  };
  if (!c.CheckRank(0, 4, 4)) return;
  const bool is_one_scale =
      IsPerTensor(c, 1) &&
      *c.InputQuantization(0) == *c.OutputQuantization(0) &&
      c.Input(0).dtype() == DType::kI8 && c.OutputType(0) == DType::kI8;
  const std::optional<Shape> sizes =
      is_one_scale ? c.Sizes(1, "size") : std::nullopt;
  if (sizes && sizes->size() == 2 && HasConstantExtent((*sizes)[0]) &&
      HasConstantExtent((*sizes)[1]) && HasConstantExtent(c.Input(0).dim(1)) &&
      HasConstantExtent(c.Input(0).dim(2))) {
    return ResizeInIntegers(c, *sizes, o.align_corners(),
                            o.half_pixel_centers());
  }
  c.DequantizeOperands();
  resize();
  if (c.ok() && c.outputs()[0].value) SetReal(c, c.outputs()[0].value);
}

void ImportResizeNearest(OperatorContext& c) {
  const auto& o = c.Options<schema::ResizeNearestNeighborOptions>();
  tf_common::ImportResizeNearest(c, o.align_corners(), o.half_pixel_centers());
}

}  // namespace ember::tflite
