// Asks for packed constants before they are read.
//
// A dispatch's constants lie in the order in which its tiles read them, and
// were pushed out of the nearer caches since its last run. The machine's own
// prefetchers stop at each small page and start late; inside a tile's loop, a
// hint for what comes a few hundred cycles later costs an instruction slot that
// is free there.
#ifndef EMBER_JIT_LLVM_PREFETCH_H_
#define EMBER_JIT_LLVM_PREFETCH_H_

#include <cstdint>

#include "llvm/IR/Module.h"

namespace ember::jit {

// Bytes ahead: some 400 cycles of a large register tile. From 1 to 8 kB times
// of whole models differ by less than they vary.
inline constexpr int64_t kPrefetchDistance = 4096;

// Beside each load of a vector from memory that never changes in an innermost
// loop: jit/llvm/memory_access.cc marks those of packed constants that are
// larger than the distance. Last of all passes: hints are not merged.
void PrefetchConstants(llvm::Module& module);

}  // namespace ember::jit

#endif  // EMBER_JIT_LLVM_PREFETCH_H_
