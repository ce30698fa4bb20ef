// Means of regions of feature maps: of samples with interpolation (He et al.
// 2017, "Mask R-CNN"), or of channels that belong to a bin each (Dai et al.
// 2016, "R-FCN").
//
//   Tensor y = RoiAlign(x, corners, images, {.bins = {7, 7}, .samples = 2});
//
// Operands that do not fit are an error of the graph builder.
#ifndef EMBER_FRONTENDS_OPS_ROI_ALIGN_H_
#define EMBER_FRONTENDS_OPS_ROI_ALIGN_H_

#include <array>
#include <cstdint>

#include "frontends/ops/tensor.h"

namespace ember::ops {

struct RoiAlignSpec {
  std::array<int64_t, 2> bins = {1, 1};  // rows and columns, at least 1
  double scale = 1;                      // factor of the regions' corners
  int64_t samples = 0;  // per axis of a bin; 0: one per element of the bin
  // true: maximum of weighted corners; false: mean of samples
  bool maximum = false;
  // true: corners are half an element farther back, and regions may be smaller
  // than one element
  bool half_pixel = false;
};
// Returns [R, C, bins]. x: [N, C, H, W]; rois: [R, 4] of (x1, y1, x2, y2), both
// of one float type; batch: [R], i64, the image of each region.
Tensor RoiAlign(Tensor x, Tensor rois, Tensor batch, const RoiAlignSpec& spec);

struct PositionSensitiveSpec {
  int64_t bins = 1;      // number of rows, and of columns
  int64_t channels = 1;  // channels of the result
  double scale = 1;
  // Corners are rounded after they are scaled, and regions end before their
  // last corner and before the last element of x.
  bool whole = false;
};
// Returns [R, channels, bins, bins], 0 for bins without elements. x: [N,
// channels * bins
// * bins, H, W]; rois: [R, 5] of (image, x1, y1, x2, y2); both f32.
Tensor PositionSensitivePool(Tensor x, Tensor rois,
                             const PositionSensitiveSpec& spec);

}  // namespace ember::ops

#endif  // EMBER_FRONTENDS_OPS_ROI_ALIGN_H_
