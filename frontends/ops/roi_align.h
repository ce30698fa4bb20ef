// Pools regions of feature maps. RoiAlign computes means of interpolated
// samples (He et al. 2017, "Mask R-CNN"). PositionSensitivePool computes means
// in which each bin reads a channel of its own (Dai et al. 2016, "R-FCN").
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
  // Number of rows of bins, and number of bins in a row, into which a region is
  // divided. Both are at least 1.
  std::array<int64_t, 2> bins = {1, 1};
  // Factor that converts the regions' corners from the image to x.
  double scale = 1;
  // Number of samples along each axis of a bin. 0 means one sample per element
  // that the bin covers.
  int64_t samples = 0;
  // If true, a bin is the maximum of the weighted elements around its samples;
  // if false, it is the mean of its samples.
  bool maximum = false;
  // If true, the scaled corners are moved by -0.5, and regions may be smaller
  // than one element.
  bool half_pixel = false;
};
// Returns the pooled regions, [R, C, bins]. x: [N, C, H, W]; rois: [R, 4] of
// (x1, y1, x2, y2), both of one float type; batch: [R], i64, the image of each
// region.
Tensor RoiAlign(Tensor x, Tensor rois, Tensor batch, const RoiAlignSpec& spec);

struct PositionSensitiveSpec {
  // Number of rows of bins into which a region is divided, and number of bins
  // in a row.
  int64_t bins = 1;
  int64_t channels = 1;  // Number of channels of the result.
  double scale = 1;
  // If true, corners are rounded after they are scaled, and regions end before
  // their last corner and before the last element of x.
  bool whole = false;
};
// Returns the mean of each bin, [R, channels, bins, bins], and 0 for bins
// without elements. x: [N, channels * bins * bins, H, W]; rois: [R, 5] of
// (image, x1, y1, x2, y2); both f32.
Tensor PositionSensitivePool(Tensor x, Tensor rois,
                             const PositionSensitiveSpec& spec);

}  // namespace ember::ops

#endif  // EMBER_FRONTENDS_OPS_ROI_ALIGN_H_
