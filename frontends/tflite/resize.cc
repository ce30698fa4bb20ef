// Resizing images [N, H, W, C].
#include "frontends/tf_common/images.h"
#include "frontends/tflite/operator_table.h"

namespace ember::tflite {

void ImportResizeBilinear(OperatorContext& c) {
  const auto& o = c.Options<schema::ResizeBilinearOptions>();
  tf_common::ImportResizeBilinear(c, o.align_corners(), o.half_pixel_centers());
}

void ImportResizeNearest(OperatorContext& c) {
  const auto& o = c.Options<schema::ResizeNearestNeighborOptions>();
  tf_common::ImportResizeNearest(c, o.align_corners(), o.half_pixel_centers());
}

}  // namespace ember::tflite
