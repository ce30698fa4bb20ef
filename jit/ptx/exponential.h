// Expands e^x of f32 on GPUs by their instruction for powers of 2, whose error
// is up to 2 units in the last place. e^x then takes eight more instructions;
// jit/math's expression, which does not use that instruction, takes 29.
//
//   ExpandExponentials(module);   // llvm.exp.f32 and of vectors of f32
//
// The largest error is 3 units in the last place. Infinities, NaNs and
// subnormal results are those of jit/math's.
//
// Not thread-safe: only one thread at a time may use a module.
#ifndef EMBER_JIT_PTX_EXPONENTIAL_H_
#define EMBER_JIT_PTX_EXPONENTIAL_H_

#include "llvm/IR/Module.h"

namespace ember::jit::ptx {

void ExpandExponentials(llvm::Module& module);

}  // namespace ember::jit::ptx

#endif  // EMBER_JIT_PTX_EXPONENTIAL_H_
