// Functions of linear quantization that operators of several formats use.
#ifndef EMBER_FRONTENDS_OPS_QUANTIZATION_H_
#define EMBER_FRONTENDS_OPS_QUANTIZATION_H_

#include <cstdint>

#include "frontends/ops/tensor.h"

namespace ember::ops {

// Expands parameters of quantization in blocks to one per element: repeats each
// parameter `block` times along `axis`, and cuts the axis to `extent`.
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

// A tensor quantized to u8 at run time: its scale and zero point are chosen so
// that 0 … 255 covers [min(x, 0), max(x, 0)].
struct DynamicallyQuantized {
  Tensor values, scale, zero_point;
};
DynamicallyQuantized QuantizeDynamically(Tensor x);

}  // namespace ember::ops

#endif  // EMBER_FRONTENDS_OPS_QUANTIZATION_H_
