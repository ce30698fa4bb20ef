// Complex numbers as inputs and results of a module. In the signature of a
// module they are one tensor of real numbers with a further last dim of two
// elements, the real and the imaginary part. Inside of a graph they are two
// tensors.
//
//   builder.Output(name, JoinedParts(real, imaginary).value());
#ifndef EMBER_FRONTENDS_OPS_COMPLEX_EDGES_H_
#define EMBER_FRONTENDS_OPS_COMPLEX_EDGES_H_

#include "frontends/ops/tensor.h"

namespace ember::ops {

Tensor JoinedParts(Tensor real, Tensor imaginary);

// Returns part 0 (real) or 1 (imaginary) of a tensor that JoinedParts makes.
Tensor PartOf(Tensor joined, int part);

}  // namespace ember::ops

#endif  // EMBER_FRONTENDS_OPS_COMPLEX_EDGES_H_
