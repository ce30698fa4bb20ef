// LLVM's back ends for machines that this one is not: for kernels that run
// elsewhere, or are looked at in tests.
//
//   UseAllTargets();
//   NewLlvmCompiler("aarch64-linux-gnu:neoverse-n1");
#ifndef EMBER_JIT_LLVM_ALL_TARGETS_H_
#define EMBER_JIT_LLVM_ALL_TARGETS_H_

namespace ember::jit {

// From now on. Thread-safe.
void UseAllTargets();

}  // namespace ember::jit

#endif  // EMBER_JIT_LLVM_ALL_TARGETS_H_
