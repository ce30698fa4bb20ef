// Limits of floats (x < c ? c : x), of which transcendental functions have two
// each, as one instruction: max.NaN, which gives a NaN where x is one, as the
// comparison does. PTX has it since sm_80; LLVM makes none of a comparison by
// itself, as it does not know that no c is a zero, whose sign would matter.
//
//   UseExtremes(function);
//
// Not thread-safe: a module is one thread's.
#ifndef EMBER_JIT_PTX_LIMITS_H_
#define EMBER_JIT_PTX_LIMITS_H_

#include "llvm/IR/Function.h"

namespace ember::jit::ptx {

// Of f32 by constants other than 0, lanes of vectors too.
void UseExtremes(llvm::Function& function);

}  // namespace ember::jit::ptx

#endif  // EMBER_JIT_PTX_LIMITS_H_
