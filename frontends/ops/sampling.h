// Samples images at computed positions, computes the positions of an affine
// map, and adds windows up to an image.
//
//   Tensor grid = AffineGrid(theta, {height, width}, /*align_corners=*/false);
//   Tensor y = GridSample(x, grid, {.mode = "linear", .padding = "zeros"});
//
// A position has one number in [-1, 1] per axis, the last axis first. -1 and 1
// are the middles of the outer elements (align_corners), or their outer
// borders. An operand that does not fit is an error of the graph builder.
#ifndef EMBER_FRONTENDS_OPS_SAMPLING_H_
#define EMBER_FRONTENDS_OPS_SAMPLING_H_

#include <string>

#include "frontends/ops/tensor.h"
#include "frontends/ops/windows.h"

namespace ember::ops {

struct GridSampleSpec {
  std::string mode;  // Interpolation: nearest, linear or cubic.
  // Treatment of positions outside of the image: zeros, border or reflection.
  std::string padding;
  bool align_corners = false;
};
// Returns x [N, C, spatial…] sampled at positions [N, points…, spatial axes]:
// [N, C, points…].
Tensor GridSample(Tensor x, Tensor positions, const GridSampleSpec& spec);

// Returns the positions of points under affine maps theta [N, d, d + 1] of d
// axes: [N, points…, d].
Tensor AffineGrid(Tensor theta, const Shape& points, bool align_corners);

// Adds up the windows x [N, C * window's elements, windows] in an image: [N, C,
// image…].
Tensor ColumnsToImage(Tensor x, const Shape& image, const Window& window);

}  // namespace ember::ops

#endif  // EMBER_FRONTENDS_OPS_SAMPLING_H_
