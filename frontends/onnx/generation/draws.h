// The random numbers of Sampling. They are those that ONNX Runtime draws on
// Linux, so that a seed gives the same tokens: uniform numbers of 62 bits from
// the minimal standard generator of Lewis, Goodman and Miller (x → 16807 x
// modulo 2³¹ - 1). Each takes two numbers of the generator, the lower half
// first. Each is computed from its position alone, as a power of 16807, so that
// no state is carried between steps.
//
//   Tensor draws = UniformDraws(c, seed, {steps, batch});  // row-major
#ifndef EMBER_FRONTENDS_ONNX_GENERATION_DRAWS_H_
#define EMBER_FRONTENDS_ONNX_GENERATION_DRAWS_H_

#include "frontends/onnx/node/context.h"

namespace ember::onnx {

// Returns random numbers, f64 in [0, 1). seed: i64[], not negative.
Tensor UniformDraws(NodeContext& c, Tensor seed, const Shape& shape);

}  // namespace ember::onnx

#endif  // EMBER_FRONTENDS_ONNX_GENERATION_DRAWS_H_
