// What layers with windows over spatial dims say alike.
#ifndef EMBER_FRONTENDS_KERAS_SPATIAL_H_
#define EMBER_FRONTENDS_KERAS_SPATIAL_H_

#include <optional>
#include <string_view>
#include <vector>

#include "frontends/keras/layer_context.h"
#include "frontends/ops/windows.h"

namespace ember::keras {

// 1, 2 or 3: of "Conv2D".
int SpatialRank(LayerContext& c);

// Of [N, spatial…, C].
Shape SpatialDims(Tensor x);

// A window of the layer's strides (config `strides`; default: one number, or
// the extents if it is 0), dilation_rate and padding.
std::optional<ops::Window> MakeWindow(LayerContext& c,
                                      std::vector<int64_t> extents,
                                      std::string_view strides,
                                      int64_t default_stride,
                                      const Shape& spatial);

}  // namespace ember::keras

#endif  // EMBER_FRONTENDS_KERAS_SPATIAL_H_
