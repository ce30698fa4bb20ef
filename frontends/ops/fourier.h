// Discrete Fourier transforms, as products with matrices of cosines and sines.
// Complex numbers are two tensors.
//
//   ComplexParts y = FourierTransform({x, {}}, axis, n, bins, /*inverse=*/false);
//
// Neither direction divides. f16 and bf16 are computed in f32. What does not
// fit is an error of the graph builder.
#ifndef EMBER_FRONTENDS_OPS_FOURIER_H_
#define EMBER_FRONTENDS_OPS_FOURIER_H_

#include "frontends/ops/tensor.h"

namespace ember::ops {

// Both parts have one shape and float type; an absent imaginary part is 0.
struct ComplexParts {
  Tensor real, imaginary;
};

// Cut, or filled with zeros, to `length` elements of an axis.
Tensor WithLength(Tensor x, int axis, const Dim& length);

// The first `bins` of a transform of `length` points along an axis, to which x
// is cut or filled.
ComplexParts FourierTransform(const ComplexParts& x, int axis,
                              const Dim& length, const Dim& bins, bool inverse);
// The real signal of `length` points whose spectrum has this first half: every
// bin but the first, and the middle one of an even length, counts for two.
Tensor RealFourierInverse(const ComplexParts& x, int axis, const Dim& length);

}  // namespace ember::ops

#endif  // EMBER_FRONTENDS_OPS_FOURIER_H_
