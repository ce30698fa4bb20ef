// Checks that the JIT can work on a dispatch at all: its size, and the terms of
// its indices.
//
// Thread-safe.
#ifndef EMBER_JIT_PIPELINE_CHECK_DISPATCH_H_
#define EMBER_JIT_PIPELINE_CHECK_DISPATCH_H_

#include "base/status.h"
#include "jit/schedule/core/computation.h"
#include "tensor/dispatch.h"

namespace ember::jit {

// Returns kUnimplemented, with the row `too-large`, for a dispatch that is too
// large or too deep for recursion.
Status CheckSize(const tensor::Dispatch& dispatch);

// Returns kUnimplemented, with the row `index-term`, if a term is too large for
// 64-bit arithmetic on indices.
Status CheckIndexTerms(const schedule::Computation& computation);

}  // namespace ember::jit

#endif  // EMBER_JIT_PIPELINE_CHECK_DISPATCH_H_
