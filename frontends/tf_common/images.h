// Operators on images [N, H, W, C] and on boxes, as TensorFlow and TensorFlow
// Lite have them alike.
#ifndef EMBER_FRONTENDS_TF_COMMON_IMAGES_H_
#define EMBER_FRONTENDS_TF_COMMON_IMAGES_H_

#include <cstdint>
#include <optional>

#include "frontends/ops/boxes.h"
#include "frontends/ops/resize.h"
#include "frontends/tf_common/operator_base.h"

namespace ember::tf_common {

// (images, size)
void ImportResizeBilinear(OperatorBase& c, bool align_corners,
                          bool half_pixel_centers);
void ImportResizeNearest(OperatorBase& c, bool align_corners,
                         bool half_pixel_centers);
// Any other way to resize.
void ImportResize(OperatorBase& c, const ops::ResizeSpec& spec);

// Which boxes suppression keeps. Of TensorFlow's boxes `extra` is 0.
using ops::KeptBoxes;
// Rows of zeros behind x, so that there are `count`.
Tensor FilledUp(Tensor x, const Dim& count);
// NonMaxSuppressionV4 with its results filled up, and V5 (soft), whose sigma
// must be 0.
void ImportPaddedSuppression(OperatorBase& c, bool soft);

// What rounding to `bits` bits makes of a range: its ends, nudged so that 0 is
// one of the steps, and the step.
struct FakeQuantRange {
  float low = 0, high = 0, step = 0;
};
// Fails for a range that does not hold 0, and nullopt.
std::optional<FakeQuantRange> NudgedRange(OperatorBase& c, float low,
                                          float high, int64_t bits,
                                          bool narrow_range);
// x rounded to the steps of the range; low, high and step broadcast.
Tensor FakeQuantized(Tensor x, Tensor low, Tensor high, Tensor step);

}  // namespace ember::tf_common

#endif  // EMBER_FRONTENDS_TF_COMMON_IMAGES_H_
