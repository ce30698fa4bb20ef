// Prefetches packed constants before they are read.
//
// A dispatch's constants are in the order in which its tiles read them, and
// have been evicted from the nearer caches since its last run. The machine's
// own prefetchers stop at each small page and start late. Inside a tile's loop,
// a hint for data that is needed a few hundred cycles later takes an
// instruction slot that is free there.
#ifndef EMBER_JIT_LLVM_EMIT_PREFETCH_H_
#define EMBER_JIT_LLVM_EMIT_PREFETCH_H_

#include <cstdint>

#include "llvm/IR/Module.h"

namespace ember::jit::llvm_ir {

// Distance of prefetches in bytes: some 400 cycles of a large register tile.
// From 1 to 8 kB, times of whole models differ by less than their noise.
inline constexpr int64_t kPrefetchDistance = 4096;

// Adds a prefetch to each load of a vector from memory that never changes in an
// innermost loop. jit/llvm/emit/memory_access.cc marks such loads of packed
// constants that are larger than the distance. Runs after all passes: hints are
// not merged.
void PrefetchConstants(llvm::Module& module);

}  // namespace ember::jit::llvm_ir

#endif  // EMBER_JIT_LLVM_EMIT_PREFETCH_H_
