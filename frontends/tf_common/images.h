// Operators on images [N, H, W, C] and on boxes that are the same in TensorFlow
// and TensorFlow Lite.
#ifndef EMBER_FRONTENDS_TF_COMMON_IMAGES_H_
#define EMBER_FRONTENDS_TF_COMMON_IMAGES_H_

#include <cstdint>
#include <optional>

#include "frontends/ops/boxes.h"
#include "frontends/ops/resize.h"
#include "frontends/tf_common/operator_base.h"

namespace ember::tf_common {

// Operands: (images, size).
void ImportResizeBilinear(OperatorBase& c, bool align_corners,
                          bool half_pixel_centers);
void ImportResizeNearest(OperatorBase& c, bool align_corners,
                         bool half_pixel_centers);
// Imports a resizing operator with the given specification.
void ImportResize(OperatorBase& c, const ops::ResizeSpec& spec);

// Selects boxes by non-maximum suppression (ops/boxes.h). Its parameter `extra`
// is 0 for the boxes of TensorFlow.
using ops::KeptBoxes;
// Appends rows of zeros to x, up to `count` rows.
Tensor FilledUp(Tensor x, const Dim& count);
// Imports NonMaxSuppressionV4 with padded results, and V5 (soft), whose sigma
// must be 0.
void ImportPaddedSuppression(OperatorBase& c, bool soft);

// A range rounded to `bits` bits: its ends, nudged so that 0 is one of the
// steps, and the size of a step.
struct FakeQuantRange {
  float low = 0, high = 0, step = 0;
};
// Returns the range rounded to `bits` bits. Fails and returns nullopt unless
// `bits` is 2 to 16 and the range includes 0.
std::optional<FakeQuantRange> NudgedRange(OperatorBase& c, float low,
                                          float high, int64_t bits,
                                          bool narrow_range);
// Rounds x to the steps of the range; low, high and step broadcast against x.
Tensor FakeQuantized(Tensor x, Tensor low, Tensor high, Tensor step);

}  // namespace ember::tf_common

#endif  // EMBER_FRONTENDS_TF_COMMON_IMAGES_H_
