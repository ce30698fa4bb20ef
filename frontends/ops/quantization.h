// Functions of linear quantization that operators of several formats use.
#ifndef EMBER_FRONTENDS_OPS_QUANTIZATION_H_
#define EMBER_FRONTENDS_OPS_QUANTIZATION_H_

#include <cstdint>

#include "frontends/ops/tensor.h"

namespace ember::ops {

// Returns one parameter per element of `axis`, cut to `extent`. Each parameter
// is for `block` elements of that axis. The parameters must have the axis.
Tensor RepeatBlocks(Tensor parameters, int axis, int64_t block,
                    const Dim& extent);

// Returns x minus its zero point (which may be absent), as i32.
Tensor Centered(Tensor x, Tensor zero_point);

// Returns (x - zero point) * scale in f32. Scale and zero point broadcast
// against x.
Tensor Dequantize(Tensor x, Tensor scale, Tensor zero_point);

// Rounds to the nearest integers (ties to even), adds the zero point (which may
// be absent), and saturates to `type`.
Tensor RoundToQuantized(Tensor scaled, Tensor zero_point, DType type);

// Values quantized to u8, with a scale and zero point for which [min(x, 0),
// max(x, 0)] maps to 0 … 255.
struct DynamicallyQuantized {
  Tensor values, scale, zero_point;
};
DynamicallyQuantized QuantizeDynamically(Tensor x);

}  // namespace ember::ops

#endif  // EMBER_FRONTENDS_OPS_QUANTIZATION_H_
