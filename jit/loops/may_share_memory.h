// Which buffers of a nest may be the same memory: an output may be that of an
// input that dies there, of the same type and shape (vm::MayAlias, in
// vm/interpreter/plan.h). No others are.
//
//   if (MayShareMemory(nest, loaded, stored)) Forget(loaded);
//
// Thread-safe.
#ifndef EMBER_JIT_LOOPS_MAY_SHARE_MEMORY_H_
#define EMBER_JIT_LOOPS_MAY_SHARE_MEMORY_H_

#include <cstdint>

#include "jit/loops/loop_nest.h"

namespace ember::loops {

// Of two buffers, in any order; of one and the same as well. What is not known
// of their shapes counts as equal.
bool MayShareMemory(const LoopNest& nest, uint32_t a, uint32_t b);

// Whether what is loaded from the buffer stays what it was while the nest runs:
// it is an input, and no output may be its memory.
bool IsNeverWritten(const LoopNest& nest, uint32_t buffer);

}  // namespace ember::loops

#endif  // EMBER_JIT_LOOPS_MAY_SHARE_MEMORY_H_
