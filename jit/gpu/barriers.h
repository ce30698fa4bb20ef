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
// (jit/gpu/insert_barriers.h).
//
// Thread-safe.
#ifndef EMBER_JIT_GPU_BARRIERS_H_
#define EMBER_JIT_GPU_BARRIERS_H_

#include <unordered_set>
#include <vector>

#include "jit/loops/loop_nest.h"

namespace ember::jit::gpu {

// A range of bytes of a workgroup's memory: from `begin` to the byte before
// `end`.
struct MemoryRange {
  int64_t begin = 0;
  int64_t end = 0;

  bool Overlaps(const MemoryRange& other) const {
    return begin < other.end && other.begin < end;
  }
};

struct SharedMemory {
  // For each buffer: true if several invocations may touch the same element.
  std::vector<bool> is_of_many;
  // For each buffer: true if products of warpgroups read it
  // (jit/target/shared_panels.h). Barriers do not depend on this list; other
  // parts of the plan do.
  std::vector<bool> has_panels;
  // True if combining loops (jit/loops/analysis/combining.h) need some of the
  // workgroup's memory as well.
  bool has_parts = false;
  // For each buffer: its range in the workgroup's memory, which is empty for a
  // buffer that is elsewhere. Buffers whose ranges overlap count as one. The
  // whole list may be empty: then no two buffers overlap.
  std::vector<MemoryRange> ranges;
  // Subgroup loops in a serial loop whose products stay in flight until those
  // of the next iteration have begun (jit/gpu/products_in_flight.h). Reads by
  // these products count as reads of the next iteration, too.
  std::unordered_set<const loops::Statement*> in_flight;
  // Statements that only other warps execute. They take no part in the barriers
  // of this plan (jit/gpu/warp_roles.h).
  std::unordered_set<const loops::Statement*> of_others;
};

struct Barriers {
  // The statements that have a barrier before them. All of them are outside
  // invocation loops.
  std::unordered_set<const loops::Statement*> before;
  // For each buffer: true if an invocation has to see what another one stored
  // before the last barrier or any earlier one.
  std::vector<bool> is_coherent;
  // For each buffer: true if invocations touch the buffer both before and after
  // a barrier, and it is stored to, or if the buffer may share memory with such
  // a buffer. Every coherent buffer is ordered.
  std::vector<bool> is_ordered;
};

// Plans the barriers of a phase. Statements outside the phase's invocation
// loops are executed by all invocations, except that only the first one stores
// to memory.
Barriers PlanBarriers(const loops::LoopNest& nest, const loops::Block& body,
                      const SharedMemory& memory);

}  // namespace ember::jit::gpu

#endif  // EMBER_JIT_GPU_BARRIERS_H_
