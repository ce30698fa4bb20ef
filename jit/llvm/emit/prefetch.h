// Prefetches packed constants before they are read.
//
// A dispatch reads its constants in the order in which they are stored, and
// since its last run they have been evicted from the nearer caches. Hardware
// prefetchers stop at each small page and start late. A prefetch instruction in
// a tile's innermost loop costs nothing, because the loop has free issue slots.
#ifndef EMBER_JIT_LLVM_EMIT_PREFETCH_H_
#define EMBER_JIT_LLVM_EMIT_PREFETCH_H_

#include <cstdint>

#include "llvm/IR/Module.h"

namespace ember::jit::llvm_ir {

// Distance of prefetches in bytes. A large register tile takes some 400 cycles
// to read so many. Between 1 and 8 kB, times of whole models differ by less
// than the noise.
inline constexpr int64_t kPrefetchDistance = 4096;

// Adds prefetches to innermost loops: one for each cache line that is read by
// vector loads of at least 32 bytes which are marked as loads of memory that
// never changes. jit/llvm/emit/memory_access.cc marks such loads of packed
// constants that are larger than the prefetch distance. Runs after all of
// LLVM's passes, because they do not merge prefetches.
void PrefetchConstants(llvm::Module& module);

}  // namespace ember::jit::llvm_ir

#endif  // EMBER_JIT_LLVM_EMIT_PREFETCH_H_
