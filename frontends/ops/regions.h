// Regions of feature maps, and the choice among boxes: what two-stage and
// single-shot detectors of several formats are made of.
//
//   Tensor y = MaxRoiPool(x, rois, {.bins = {7, 7}, .scale = 1.0 / 16});
//   Tensor kept = NonMaxSuppression(boxes, scores, 0.5, 0.1, Dim(100));
//
// What does not fit is an error of the graph builder.
#ifndef EMBER_FRONTENDS_OPS_REGIONS_H_
#define EMBER_FRONTENDS_OPS_REGIONS_H_

#include <array>
#include <cstdint>

#include "frontends/ops/tensor.h"

namespace ember::ops {

// Nearest integer, halves away from zero.
Tensor RoundAway(Tensor x);
// Column `index` of rows [n, width], as [n].
Tensor Column(Tensor rows, int index);

struct RoiPoolSpec {
  std::array<int64_t, 2> bins;  // rows and columns, at least 1
  double scale = 1;             // of the regions' corners
};
// x [N, C, H, W], rois [R, 5] of (image, x1, y1, x2, y2), both of x's float
// type: the largest element of each bin, [R, C, bins], 0 for bins without any
// (Girshick 2015, "Fast R-CNN").
Tensor MaxRoiPool(Tensor x, Tensor rois, const RoiPoolSpec& spec);

// Of boxes [n, b, 4] (corners) with scores [n, classes, b], both f32: rows of
// (n, class, box), best first within a class, i64 [k, 3]. Boxes that overlap a
// better one by more than `overlap` (intersection over union) are left out, as
// are those whose score is not above `least` (f32 scalars), and those behind
// the first `most` of a class.
Tensor NonMaxSuppression(Tensor boxes, Tensor scores, Tensor overlap,
                         Tensor least, const Dim& most);

}  // namespace ember::ops

#endif  // EMBER_FRONTENDS_OPS_REGIONS_H_
