// Says in the nest which inputs share memory with each output
// (loops::Buffer::shares), so that code needs no proof of it.
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

// Marks all outputs, in place of marks that they have.
void MarkSharedMemory(loops::LoopNest& nest);

}  // namespace ember::jit::legalise

#endif  // EMBER_JIT_LEGALISE_MARK_SHARED_MEMORY_H_
