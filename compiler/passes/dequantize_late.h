// Lets models of quantizers (ONNX's QuantizeLinear and DequantizeLinear around
// float operators) compute with integers, as models with quantized operators
// do.
//
//   conv((i32(%x) - zx) * sx, (i32(%w) - zw) * sw)
//     → f32(conv(i32(%x) - zx, i32(%w) - zw)) * (sx * sw)
//
// %x and %w are bytes, scales are constants, per tensor or per channel; views
// may be in between. Sums of products (conv, conv_transpose, contract) and sums
// (reduce, reduce_window) become exact and are rounded once instead of at each
// addition. Minima, maxima and views are computed on the bytes themselves.
// Values that are quantized again with the same parameters are not computed.
//
// After such a sum, up to the next rounding, a division by the scale of results
// is moved into scales, biases and bounds:
//
//   round(max(f32(%n) * s + b, 0) / t) → round(max(f32(%n) * (s / t) + b / t, 0))
//
// The additional rounding of scales (relative 6e-8) may move a number that is
// halfway between two steps to the other one: results are those of the float
// operators within one step of quantization, and its consequences.
//
// Not changed: products with one quantized factor; sums that may not fit 32
// bits; scales that vary along a summed dim, or that are computed.
#ifndef EMBER_COMPILER_PASSES_DEQUANTIZE_LATE_H_
#define EMBER_COMPILER_PASSES_DEQUANTIZE_LATE_H_

#include "base/status.h"
#include "compiler/graph/graph.h"

namespace ember::compiler {

// Rewrites the graph. Runs before constants are folded, while weights are still
// bytes.
Status DequantizeLate(graph::Graph& graph);

}  // namespace ember::compiler

#endif  // EMBER_COMPILER_PASSES_DEQUANTIZE_LATE_H_
