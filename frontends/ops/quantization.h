// Parts of linear quantization that operators of several families are made of.
#ifndef EMBER_FRONTENDS_OPS_QUANTIZATION_H_
#define EMBER_FRONTENDS_OPS_QUANTIZATION_H_

#include <cstdint>

#include "frontends/ops/tensor.h"

namespace ember::ops {

// Each parameter holds for `block` elements of `axis`, which they have: one per
// element, cut to `extent`.
Tensor RepeatBlocks(Tensor parameters, int axis, int64_t block,
                    const Dim& extent);

// x with its zero point (may be absent) taken off, as i32.
Tensor Centered(Tensor x, Tensor zero_point);

// (x - zero point) * scale in f32; both broadcast against x.
Tensor Dequantize(Tensor x, Tensor scale, Tensor zero_point);

// Nearest integers (ties to even) plus the zero point (may be absent),
// saturated to `type`.
Tensor RoundToQuantized(Tensor scaled, Tensor zero_point, DType type);

// u8 with a scale and zero point so that [min(x, 0), max(x, 0)] maps to
// 0 … 255.
struct DynamicallyQuantized {
  Tensor values, scale, zero_point;
};
DynamicallyQuantized QuantizeDynamically(Tensor x);

}  // namespace ember::ops

#endif  // EMBER_FRONTENDS_OPS_QUANTIZATION_H_
