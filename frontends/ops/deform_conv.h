// Convolutions whose window elements are read where computed offsets say, with
// interpolation (Dai et al. 2017, "Deformable Convolutional Networks"), and
// weighed by a mask (Zhu et al. 2018, "Deformable ConvNets v2").
//
//   DeformConvOperands operands{.x = x, .w = w, .offsets = offsets};
//   Tensor y = DeformConv(operands, {.window = WindowOf({3, 3})});
//
// What does not fit is an error of the graph builder.
#ifndef EMBER_FRONTENDS_OPS_DEFORM_CONV_H_
#define EMBER_FRONTENDS_OPS_DEFORM_CONV_H_

#include <cstdint>

#include "frontends/ops/tensor.h"
#include "frontends/ops/windows.h"

namespace ember::ops {

struct DeformConvSpec {
  Window window;              // that of w
  int64_t groups = 1;         // of channels, as those of Conv
  int64_t offset_groups = 1;  // of channels that share offsets
  // What lies around the image. false: zeros, towards which values fade within
  // one element. true: zeros from its first element up and from one element
  // behind its last one on, in between the last one as it is.
  bool sharp_border = false;
};

struct DeformConvOperands {
  Tensor x;  // [N, C, spatial…]
  Tensor w;  // [O, C / groups, window…]
  // [N, offset_groups * window elements * spatial axes, result's spatial…]: one
  // element of the window after the other, for each a number per axis.
  Tensor offsets;
  Tensor mask =
      {};  // [N, offset_groups * window elements, spatial…], or absent
  Tensor bias = {};  // [O], or absent
};

// [N, O, spatial…] of the type of x.
Tensor DeformConv(const DeformConvOperands& operands,
                  const DeformConvSpec& spec);

}  // namespace ember::ops

#endif  // EMBER_FRONTENDS_OPS_DEFORM_CONV_H_
