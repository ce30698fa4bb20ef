// Works on tensors as the bits of their elements.
//
//   TotalOrder(c, x)   // integers that are ordered as the floats are, with
//                      // -NaN first, -0 before 0 and NaN last
//
// Not thread-safe.
#ifndef EMBER_FRONTENDS_STABLEHLO_BITS_H_
#define EMBER_FRONTENDS_STABLEHLO_BITS_H_

#include "frontends/stablehlo/operation_context.h"

namespace ember::stablehlo {

// These functions return the integer type of the same width as `dtype`.
DType UnsignedOf(DType dtype);
DType SignedOf(DType dtype);
Tensor Bitcast(Tensor x, DType dtype);
Tensor TotalOrder(const OperationContext& c, Tensor x);

}  // namespace ember::stablehlo

#endif  // EMBER_FRONTENDS_STABLEHLO_BITS_H_
