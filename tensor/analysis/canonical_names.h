// Gives a dispatch names that depend only on what it computes, so that equal
// dispatches of different models are recognised as equal.
//
//   dispatch @d7_conv<batch>(%image: f32[batch, 8]) -> (%y: f32[batch, 8]) {
//     %y[n, c] = max(%image[n, c], 0.0)
//   }
//
// becomes
//
//   dispatch @dispatch<p0>(%x0: f32[p0, 8]) -> (%y0: f32[p0, 8]) {
//     %y0[i0, i1] = max(%x0[i0, i1], 0.0)
//   }
//
// Buffers, parameters, axes and instructions keep their order and their
// numbers, so a kernel of the renamed dispatch also runs the original. A
// schedule of the renamed dispatch uses the canonical names of stages and
// loops. Thread-safe.
#ifndef EMBER_TENSOR_ANALYSIS_CANONICAL_NAMES_H_
#define EMBER_TENSOR_ANALYSIS_CANONICAL_NAMES_H_

#include "tensor/dispatch.h"

namespace ember::tensor {

// Returns the dispatch with canonical names. The dispatch must be verified.
Dispatch WithCanonicalNames(Dispatch dispatch);

}  // namespace ember::tensor

#endif  // EMBER_TENSOR_ANALYSIS_CANONICAL_NAMES_H_
