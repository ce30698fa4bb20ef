// Models of quantizers (ONNX's QuantizeLinear and DequantizeLinear around float
// operators) compute with integers, as those with quantized operators do.
//
//   conv((i32(%x) - zx) * sx, (i32(%w) - zw) * sw)
//     → f32(conv(i32(%x) - zx, i32(%w) - zw)) * (sx * sw)
//
// %x and %w are bytes, scales are constants, per tensor or per channel; views
// may be between. Sums of products (conv, conv_transpose, contract) and sums
// (reduce, reduce_window) so become exact and are rounded once, where they
// would be rounded at each addition. Minima, maxima and views are of the bytes
// themselves. Values that are quantized again as they were are not computed.
//
// Behind it, up to the next rounding, a division by the scale of results goes
// into the scales, biases and bounds that it meets:
//
//   round(max(f32(%n) * s + b, 0) / t) → round(max(f32(%n) * (s / t) + b / t, 0))
//
// Scales that are rounded once more (relative 6e-8) may move a number that is
// halfway between two steps to the other one: results are those of the float
// operators within one step of quantization, and what follows from it.
//
// Not changed: products with one quantized factor; sums that 32 bits may not
// hold; scales that vary along what is summed over, or that are computed.
#ifndef EMBER_COMPILER_PASSES_DEQUANTIZE_LATE_H_
#define EMBER_COMPILER_PASSES_DEQUANTIZE_LATE_H_

#include "base/status.h"
#include "compiler/graph/graph.h"

namespace ember::compiler {

// To be run before constants are folded: weights are still bytes.
Status DequantizeLate(graph::Graph& graph);

}  // namespace ember::compiler

#endif  // EMBER_COMPILER_PASSES_DEQUANTIZE_LATE_H_
