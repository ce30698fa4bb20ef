// Settings that all layers with windows over spatial dims share.
#ifndef EMBER_FRONTENDS_KERAS_SPATIAL_H_
#define EMBER_FRONTENDS_KERAS_SPATIAL_H_

#include <optional>
#include <string_view>
#include <vector>

#include "frontends/keras/layer_context.h"
#include "frontends/ops/windows.h"

namespace ember::keras {

// Returns the number of spatial dims that the layer's class name states: 2 for
// "Conv2D". It is 2 if the name states none.
int SpatialRank(LayerContext& c);

// Returns the spatial dims of [N, spatial…, C].
Shape SpatialDims(Tensor x);

// Makes a window from the layer's strides, dilation_rate and padding. `strides`
// is the entry of the strides; without it every stride is the default number,
// or the window's extent if that is 0. Nullopt after an error.
std::optional<ops::Window> MakeWindow(LayerContext& c,
                                      std::vector<int64_t> extents,
                                      std::string_view strides,
                                      int64_t default_stride,
                                      const Shape& spatial);

}  // namespace ember::keras

#endif  // EMBER_FRONTENDS_KERAS_SPATIAL_H_
