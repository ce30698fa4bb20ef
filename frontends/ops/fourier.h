// Discrete Fourier transforms, as products with matrices of cosines and sines.
// Complex numbers are two tensors.
//
//   ComplexParts y = FourierTransform({x, {}}, axis, n, bins, /*inverse=*/false);
//
// Neither the forward nor the inverse transform divides by the length. f16 and
// bf16 are computed in f32. An operand that does not fit is an error of the
// graph builder.
#ifndef EMBER_FRONTENDS_OPS_FOURIER_H_
#define EMBER_FRONTENDS_OPS_FOURIER_H_

#include "frontends/ops/tensor.h"

namespace ember::ops {

// A complex tensor as its real and imaginary parts, of the same shape and float
// type. An absent imaginary part is 0.
struct ComplexParts {
  Tensor real, imaginary;
};

// Changes the extent of an axis to `length`: cuts off elements at its end, or
// appends zeros.
Tensor WithLength(Tensor x, int axis, const Dim& length);

// Returns the first `bins` elements of a transform of `length` points along an
// axis. The axis of x is first cut to, or filled up to, this length.
ComplexParts FourierTransform(const ComplexParts& x, int axis,
                              const Dim& length, const Dim& bins, bool inverse);
// Returns the real signal of `length` points whose spectrum has x as its first
// half. The other half is its conjugate, so each bin counts twice, except for
// the first one and the middle one of an even length.
Tensor RealFourierInverse(const ComplexParts& x, int axis, const Dim& length);

}  // namespace ember::ops

#endif  // EMBER_FRONTENDS_OPS_FOURIER_H_
