// Pooling of regions of feature maps, and selection of boxes, for two-stage and
// single-shot detectors of several formats.
//
//   Tensor y = MaxRoiPool(x, rois, {.bins = {7, 7}, .scale = 1.0 / 16});
//   Tensor kept = NonMaxSuppression(boxes, scores, 0.5, 0.1, Dim(100));
//
// Operands that do not fit are an error of the graph builder.
#ifndef EMBER_FRONTENDS_OPS_REGIONS_H_
#define EMBER_FRONTENDS_OPS_REGIONS_H_

#include <array>
#include <cstdint>

#include "frontends/ops/tensor.h"

namespace ember::ops {

// Rounds to the nearest integer, halves away from zero.
Tensor RoundAway(Tensor x);
// Returns column `index` of a matrix [n, width], as [n].
Tensor Column(Tensor rows, int index);

struct RoiPoolSpec {
  // Number of rows of bins, and number of bins in a row, into which a region is
  // divided. Both are at least 1.
  std::array<int64_t, 2> bins;
  // Factor that converts the regions' corners from the image to x.
  double scale = 1;
};
// Returns the largest element of each bin, [R, C, bins], 0 for bins without
// elements (Girshick 2015, "Fast R-CNN"). x: [N, C, H, W]; rois: [R, 5] of
// (image, x1, y1, x2, y2), in x's float type.
Tensor MaxRoiPool(Tensor x, Tensor rois, const RoiPoolSpec& spec);

// Returns the kept boxes as rows of (n, class, box), i64 [k, 3], best first
// within a class. boxes: [n, b, 4] (corners); scores: [n, classes, b]; both
// f32. Dropped are boxes that overlap a better kept box by more than `overlap`
// (intersection over union), boxes whose score is not above `least` (f32
// scalars), and boxes after the first `most` of a class.
Tensor NonMaxSuppression(Tensor boxes, Tensor scores, Tensor overlap,
                         Tensor least, const Dim& most);

}  // namespace ember::ops

#endif  // EMBER_FRONTENDS_OPS_REGIONS_H_
