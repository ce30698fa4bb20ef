// Resizes axis by axis. Resizing an axis is a sum of gathers along the axis
// with weights that depend only on the position. The graph computes positions
// and weights from iota, so that they fold to constants if extents are known,
// and also work if they are not.
//
//   ResizeSpec spec{.mode = "linear", .coordinates = "half_pixel"};
//   Tensor y = ResizeAxes(spec, {{.axis = 1, .in = h, .out = h * Dim(2)}}, x);
//
// The names of modes are ONNX's (Resize, opset 19); they include the modes of
// other formats. Unknown modes are errors of the graph builder.
#ifndef EMBER_FRONTENDS_OPS_RESIZE_H_
#define EMBER_FRONTENDS_OPS_RESIZE_H_

#include <optional>
#include <string>
#include <vector>

#include "frontends/ops/tensor.h"

namespace ember::ops {

struct ResizeSpec {
  std::string mode;  // Interpolation: nearest, linear or cubic.
  // ONNX's coordinate transformation: half_pixel, asymmetric, align_corners ….
  std::string coordinates;
  // Rounding of nearest mode: ONNX's round_prefer_floor, floor …; also
  // "simple", which is floor if the scale is at least 1, else ceil.
  std::string nearest;
  double cubic_a = -0.75;
  bool exclude_outside = false;
  bool antialias = false;
  // If true, 8-bit images are summed in fixed point and rounded after each
  // axis, as Pillow does. ResizeAxes sets it.
  bool fixed_point = false;
  double extrapolation = 0;
};

struct ResizedAxis {
  int axis = 0;
  Dim in;
  Dim out;
  // The scale if it is constant. It may differ from out / in, as `out` is
  // rounded.
  std::optional<double> scale;
  Tensor dynamic_scale;         // The scale if it depends on data, f64[].
  Tensor crop_start, crop_end;  // f64[], for tf_crop_and_resize
};

// Resizes x along the given axes. The result has the type of x; integers are
// rounded.
Tensor ResizeAxes(ResizeSpec spec, const std::vector<ResizedAxis>& axes,
                  Tensor x);

}  // namespace ember::ops

#endif  // EMBER_FRONTENDS_OPS_RESIZE_H_
