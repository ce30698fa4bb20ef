// Finds the statements of a phase before which the invocations of a workgroup
// need a barrier: wherever an invocation reads or writes what another one
// wrote, or writes what another one read, since the last barrier.
//
//   for k < 8 {
//     invocation i < 64 { %tile[i] = %x[k * 64 + i] }    // barrier: was read
//     invocation i < 64 { ... %tile[...] ... }           // barrier: was stored
//   }
//
// A buffer counts as one piece of memory, except that each slot of a ring
// (jit/gpu/rings.h) counts separately. A store for the next iteration does not
// conflict with reads of this one:
//
//   for k < 8 {
//     invocation i < 64 { ... %tile[k mod 2, ...] ... }            // barrier
//     if k + 1 < 8 {
//       invocation i < 64 { %tile[(k + 1) mod 2, i] = %ahead[i] }  // none
//     }
//   }
//
// An asynchronous store counts as a write at two places. At its statement, no
// other invocation may still read what it overwrites. At the await that covers
// it, others may read the element only after a barrier that follows the await.
//
// A barrier at the begin of a branch is put before the branch, so that all
// paths have it. A barrier that a loop needs only because of accesses before
// the loop is put before the loop.
//
// Barriers that the nest already has (Statement::Kind::kBarrier) are ignored,
// so the result is the same before and after they are inserted
// (jit/gpu/insert_barriers.h). Two marks of the nest matter: statements that
// only a producer executes (Statement::of_producer) take no part in the
// barriers, and reads by products that stay in flight
// (Statement::stays_in_flight) count as reads of the next iteration, too.
//
// Statements have numbers, from 0 up, in the order of the text. Barriers have
// none, so the numbers do not depend on them either.
//
// Thread-safe.
#ifndef EMBER_JIT_GPU_BARRIERS_H_
#define EMBER_JIT_GPU_BARRIERS_H_

#include <cstddef>
#include <vector>

#include "jit/gpu/shared_memory.h"
#include "jit/loops/loop_nest.h"

namespace ember::jit::gpu {

struct Barriers {
  // For each statement, by its number: true if a barrier is needed before it.
  // Such a statement is never inside an invocation loop.
  std::vector<bool> before;
  // For each buffer: true if some invocation reads what another one stored
  // before a barrier, so that the memory must be coherent.
  std::vector<bool> is_coherent;
  // For each buffer: true if a barrier must order its accesses. That is so if
  // the buffer is stored to, and invocations access it both before and after a
  // barrier, or if it may share memory with such a buffer. Every coherent
  // buffer is ordered.
  std::vector<bool> is_ordered;

  size_t Count() const;  // number of barriers
};

// Plans the barriers of a phase. Statements outside the phase's invocation
// loops are executed by all invocations, except that only the first one stores
// to memory.
Barriers PlanBarriers(const loops::LoopNest& nest, const loops::Block& body,
                      const SharedMemory& memory);

}  // namespace ember::jit::gpu

#endif  // EMBER_JIT_GPU_BARRIERS_H_
