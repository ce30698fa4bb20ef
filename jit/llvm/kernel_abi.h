// How compiled phases of a loop nest are called. The one place where the code
// generator, which emits the callee, and the runtime, which calls it, agree.
#ifndef EMBER_JIT_LLVM_KERNEL_ABI_H_
#define EMBER_JIT_LLVM_KERNEL_ABI_H_

#include <cstdint>

namespace ember::jit {

// What a failed Check says. Several tasks may fail; the caller gives each
// worker one and reports any of them.
struct CheckFailure {
  uint32_t buffer = 0;  // of the nest
  uint32_t dim = 0;
  int64_t index = 0;
  int64_t extent = 0;
};

// Runs tasks [begin, end) of one phase; returns 0, or 1 after a Check failed,
// having filled `failure` and left the other tasks undone. parameters: the
// nest's. buffers: one pointer per buffer of the nest, 64-byte aligned but for
// inputs and outputs, which are aligned to their elements; of kTask buffers
// this worker's own memory; unused for kRegister. An output may be the same
// memory as an input where vm::MayAlias of the dispatch says so; nothing else
// overlaps.
using PhaseFunction = int32_t (*)(const int64_t* parameters,
                                  void* const* buffers, int64_t begin,
                                  int64_t end, CheckFailure* failure);

}  // namespace ember::jit

#endif  // EMBER_JIT_LLVM_KERNEL_ABI_H_
