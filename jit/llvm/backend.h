// The back end for CPUs. It makes machine code of this process with LLVM.
#ifndef EMBER_JIT_LLVM_BACKEND_H_
#define EMBER_JIT_LLVM_BACKEND_H_

#include "jit/backend/backend.h"

namespace ember::jit::llvm_ir {

// The back end for CPUs. It serves all targets, so it is the last row of the
// table of back ends.
extern const Backend kCpuBackend;

}  // namespace ember::jit::llvm_ir

#endif  // EMBER_JIT_LLVM_BACKEND_H_
