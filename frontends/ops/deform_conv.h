// Convolutions that read their window elements at computed offsets, with
// interpolation (Dai et al. 2017, "Deformable Convolutional Networks"), and
// weigh them by a mask (Zhu et al. 2018, "Deformable ConvNets v2").
//
//   DeformConvOperands operands{.x = x, .w = w, .offsets = offsets};
//   Tensor y = DeformConv(operands, {.window = WindowOf({3, 3})});
//
// Operands that do not fit are an error of the graph builder.
#ifndef EMBER_FRONTENDS_OPS_DEFORM_CONV_H_
#define EMBER_FRONTENDS_OPS_DEFORM_CONV_H_

#include <cstdint>

#include "frontends/ops/tensor.h"
#include "frontends/ops/windows.h"

namespace ember::ops {

struct DeformConvSpec {
  Window window;       // window of w
  int64_t groups = 1;  // Number of groups of channels, as in Conv.
  // Number of groups of channels that share offsets.
  int64_t offset_groups = 1;
  // Says which values are read outside the image. If false, values fade to zero
  // within one element of its border. If true, they are zero before the first
  // element and from one element after the last one on; in between they equal
  // the last element.
  bool sharp_border = false;
};

struct DeformConvOperands {
  Tensor x;  // [N, C, spatial…]
  Tensor w;  // The weights, [O, C / groups, window…].
  // The offsets in elements, [N, offset_groups * window elements * spatial
  // axes, result's spatial…]: for each element of the window in order, a number
  // per axis.
  Tensor offsets;
  Tensor mask =
      // The factor of each element that is read, [N, offset_groups * window
      // elements, spatial…]; or absent.
      {};
  Tensor bias = {};  // [O], or absent
};

// Returns the convolution, [N, O, spatial…], in the type of x.
Tensor DeformConv(const DeformConvOperands& operands,
                  const DeformConvSpec& spec);

}  // namespace ember::ops

#endif  // EMBER_FRONTENDS_OPS_DEFORM_CONV_H_
