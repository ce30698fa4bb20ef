// Says which buffers of a nest may share memory: an output may reuse the memory
// of an input of the same type and shape that is not used afterwards
// (vm::MayAlias, in vm/interpreter/plan.h). No other buffers share memory.
// Analyses and passes call this function; back ends use the marks that
// jit/legalise/mark_shared_memory.h sets instead.
//
//   if (MayShareMemory(nest, loaded, stored)) Forget(loaded);
//
// Thread-safe.
#ifndef EMBER_JIT_LOOPS_ANALYSIS_MAY_SHARE_MEMORY_H_
#define EMBER_JIT_LOOPS_ANALYSIS_MAY_SHARE_MEMORY_H_

#include <cstdint>

#include "jit/loops/loop_nest.h"

namespace ember::loops {

// True if the two buffers, in any order, may share memory; also true if a is b.
// Shapes that may be equal count as equal.
bool MayShareMemory(const LoopNest& nest, uint32_t a, uint32_t b);

}  // namespace ember::loops

#endif  // EMBER_JIT_LOOPS_ANALYSIS_MAY_SHARE_MEMORY_H_
