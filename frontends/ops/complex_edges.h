// Complex numbers where a model takes and gives them: its module has tensors of
// real numbers there with one more dim at the end, of two elements, the real
// and the imaginary part. In a model they are two tensors.
//
//   builder.Output(name, JoinedParts(real, imaginary).value());
#ifndef EMBER_FRONTENDS_OPS_COMPLEX_EDGES_H_
#define EMBER_FRONTENDS_OPS_COMPLEX_EDGES_H_

#include "frontends/ops/tensor.h"

namespace ember::ops {

Tensor JoinedParts(Tensor real, Tensor imaginary);

// Part 0 (real) or 1 (imaginary) of such a tensor.
Tensor PartOf(Tensor joined, int part);

}  // namespace ember::ops

#endif  // EMBER_FRONTENDS_OPS_COMPLEX_EDGES_H_
