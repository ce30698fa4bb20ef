// Registers LLVM's back ends for machines other than this one, which
// ahead-of-time kernels need, and tests that look at the code for other
// machines.
//
//   UseAllTargets();
//   NewLlvmCompiler("aarch64-linux-gnu:neoverse-n1");
#ifndef EMBER_JIT_LLVM_ALL_TARGETS_H_
#define EMBER_JIT_LLVM_ALL_TARGETS_H_

namespace ember::jit::llvm_ir {

// Registers all of LLVM's back ends that are linked in, until the process ends.
// Thread-safe.
void UseAllTargets();

}  // namespace ember::jit::llvm_ir

#endif  // EMBER_JIT_LLVM_ALL_TARGETS_H_
