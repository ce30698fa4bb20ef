// Marks in the nest which inputs may share memory with each output
// (loops::Buffer::shares), so that back ends need no analysis for that.
//
//   MarkSharedMemory(nest);
//
//   loops @t(%x: input f32[4], %y: output f32[4]) { … }
//     // becomes: loops @t(%x: input f32[4], %y: output f32[4] shares %x) { … }
//
// Thread-safe.
#ifndef EMBER_JIT_LEGALISE_MARK_SHARED_MEMORY_H_
#define EMBER_JIT_LEGALISE_MARK_SHARED_MEMORY_H_

#include "jit/loops/loop_nest.h"

namespace ember::jit::legalise {

// Marks all outputs of the nest, and replaces marks that they have already.
void MarkSharedMemory(loops::LoopNest& nest);

}  // namespace ember::jit::legalise

#endif  // EMBER_JIT_LEGALISE_MARK_SHARED_MEMORY_H_
