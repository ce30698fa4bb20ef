// Special functions, to be computed in f64.
//
//   Tensor y = Cast(LogGamma(Cast(x, DType::kF64)), x.dtype());
//
// Sources: Lanczos (1964) with g = 7 for the logarithm of the gamma function;
// Abramowitz and Stegun 6.3 for its derivative and 7.1.14 for erfc's continued
// fraction; Giles (2010), "Approximating the erfinv function".
#ifndef EMBER_FRONTENDS_OPS_SPECIAL_H_
#define EMBER_FRONTENDS_OPS_SPECIAL_H_

#include "frontends/ops/tensor.h"

namespace ember::ops {

// Returns 1 - erf(x), which is accurate even where the result is small.
Tensor ErfComplement(Tensor x);
Tensor ErfInverse(Tensor x);
// LogGamma returns log |gamma(x)|. Digamma returns the derivative of log
// gamma(x).
Tensor LogGamma(Tensor x);
Tensor Digamma(Tensor x);

}  // namespace ember::ops

#endif  // EMBER_FRONTENDS_OPS_SPECIAL_H_
