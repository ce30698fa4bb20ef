// Products with weights that are quantized in blocks of columns, whose
// activations are quantized per block, too:
//
//   w[n, k] = scales[n, b] * (codes[n, k] - zeros[n, b]) - minima[n, b]
//                                        for the columns k of block b
//   y[..., n] = sum(k) x[..., k] * w[n, k]
//
//   BlockedWeight w{.codes = nibbles, .scales = scales, .zero = 8};
//   Tensor y = BlockedProduct(x, w);
//
// The products of a block are summed as integers. Formats of language models
// say so: accuracy level 4 of ONNX's MatMulNBits, and the types of GGUF whose
// products llama.cpp computes with Q8_0 and Q8_K. The activations of each block
// become whole numbers in -127..127 and a scale. Rounding them is a relative
// error of about 1/254 of the block's largest activation.
//
// The weights remain packed as the format has them: the JIT's kernels unpack
// them in registers (jit/schedule/cpu/block_sums_rule.h).
#ifndef EMBER_FRONTENDS_OPS_BLOCKED_PRODUCT_H_
#define EMBER_FRONTENDS_OPS_BLOCKED_PRODUCT_H_

#include <cstdint>

#include "frontends/ops/tensor.h"

namespace ember::ops {

// The order in which a block's columns are stored in `codes`, whose last two
// dims are parts and steps.
enum class BlockOrder : uint8_t {
  kPartsFirst,  // column number part * steps + step, as in GGUF's Q4_0
  kStepsFirst   // column number step * parts + part, as in ONNX
};

struct BlockedWeight {
  // u8 or i8 [rows, blocks, parts, steps]. A byte that holds several numbers
  // gives one to each part: part p of UnpackParts. Dims are constant.
  Tensor codes;
  // Floats [rows, blocks], or [rows, blocks, parts] if each part of a block has
  // a scale of its own. Activations have scales of the same kind.
  Tensor scales;
  // An integer zero point that all blocks share; it is subtracted from the
  // codes.
  int64_t zero = 0;
  // Floats of the dims of `scales` (see the formula above). Without `zeros` the
  // zero point is `zero`; without `minima` they are 0.
  Tensor zeros, minima;
  BlockOrder order = BlockOrder::kPartsFirst;
};

// Returns the numbers of `bits` bits of bytes: u8[…, n] becomes u8[…, 8 / bits,
// n]. Part 0 is in the lowest bits.
Tensor UnpackParts(Tensor bytes, int64_t bits);

// Activations that are quantized in the blocks of a weight.
struct BlockedActivations {
  // i8, of the dims of the weight's codes: the quantized activations.
  Tensor codes;
  Tensor scales;  // f32, of the dims of the weight's scales
  // i32, of the dims of `scales`: sum of the codes that share a scale.
  Tensor sums;
};

// Quantizes x, f32 [rows, columns], to multiply it by `w`: in blocks and scales
// as `w` has them, and in its order of columns. Columns that x lacks are 0.
BlockedActivations QuantizeBlocks(Tensor x, const BlockedWeight& w);

// Returns the product of x, floats […, columns], and the weights: f32 […,
// rows]. x may have fewer columns than the weights' blocks.
Tensor BlockedProduct(Tensor x, const BlockedWeight& w);

}  // namespace ember::ops

#endif  // EMBER_FRONTENDS_OPS_BLOCKED_PRODUCT_H_
