// Replaces limits of floats (x < c ? c : x) by one instruction; each
// transcendental function has two limits. The instruction is max.NaN or
// min.NaN, which returns a NaN if x is one, as the comparison does. PTX has
// these instructions since sm_80. LLVM does not use them for a comparison by
// itself, because it does not know that c is not a zero, whose sign would
// matter.
//
//   UseExtremes(function);
//
// Not thread-safe: only one thread at a time may use a module.
#ifndef EMBER_JIT_PTX_LIMITS_H_
#define EMBER_JIT_PTX_LIMITS_H_

#include "llvm/IR/Function.h"

namespace ember::jit::ptx {

// Replaces the function's limits of f32 by constants other than 0, for scalars
// and vectors.
void UseExtremes(llvm::Function& function);

}  // namespace ember::jit::ptx

#endif  // EMBER_JIT_PTX_LIMITS_H_
