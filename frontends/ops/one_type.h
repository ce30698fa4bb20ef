// Checks the element types of operands that no format mixes: the factors of a
// product, the data and the weights of a convolution.
//
//   if (!HaveOneType({a, b})) return a;   // f16 and f32: the builder fails
//
// If a format allows mixed types, its frontend casts the operands by the
// format's rule before it calls these functions.
#ifndef EMBER_FRONTENDS_OPS_ONE_TYPE_H_
#define EMBER_FRONTENDS_OPS_ONE_TYPE_H_

#include <initializer_list>

#include "frontends/ops/tensor.h"

namespace ember::ops {

// Returns true if all tensors have the element type of the first one; absent
// and failed tensors are skipped. Otherwise the builder fails with a message
// that names the node and both types.
bool HaveOneType(std::initializer_list<Tensor> tensors);

}  // namespace ember::ops

#endif  // EMBER_FRONTENDS_OPS_ONE_TYPE_H_
