// Registers LLVM's back ends for other machines than this one: for kernels that
// run elsewhere, or whose code tests look at.
//
//   UseAllTargets();
//   NewLlvmCompiler("aarch64-linux-gnu:neoverse-n1");
#ifndef EMBER_JIT_LLVM_ALL_TARGETS_H_
#define EMBER_JIT_LLVM_ALL_TARGETS_H_

namespace ember::jit::llvm_ir {

// Registers LLVM's other back ends for the rest of the process. Thread-safe.
void UseAllTargets();

}  // namespace ember::jit::llvm_ir

#endif  // EMBER_JIT_LLVM_ALL_TARGETS_H_
