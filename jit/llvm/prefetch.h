// Asks for packed constants before they are read.
//
// A dispatch's constants lie in the order in which its tiles read them, and
// were pushed out of the nearer caches since its last run. The machine's own
// prefetchers stop at each small page and start late; inside a tile's loop, a
// hint for what comes a few hundred cycles later costs an instruction slot that
// is free there.
#ifndef EMBER_JIT_LLVM_PREFETCH_H_
#define EMBER_JIT_LLVM_PREFETCH_H_

#include "llvm/IR/Module.h"

namespace ember::jit {

// Beside each load of a vector from memory that never changes (packed
// constants: jit/llvm/memory_access.cc marks them) in an innermost loop. Last
// of all passes: hints are not merged.
void PrefetchConstants(llvm::Module& module);

}  // namespace ember::jit

#endif  // EMBER_JIT_LLVM_PREFETCH_H_
