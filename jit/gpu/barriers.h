// Between which statements of a phase the invocations of a workgroup meet:
// wherever one reads or writes what another one wrote, or writes what it read,
// since they met last.
//
//   for k < 8 {
//     invocation i < 64 { %tile[i] = %x[k * 64 + i] }    // meet: they read it
//     invocation i < 64 { ... %tile[...] ... }           // meet: it is stored
//   }
//
// A buffer counts as one, but for rings (jit/gpu/rings.h), whose slots count
// each for itself. What is stored for the next turn is not what this one reads:
//
//   for k < 8 {
//     invocation i < 64 { ... %tile[k mod 2, ...] ... }            // meet
//     if k + 1 < 8 {
//       invocation i < 64 { %tile[(k + 1) mod 2, i] = %ahead[i] }  // need not
//     }
//   }
//
// An asynchronous store counts as a write at two places: at its statement, so
// that nobody still reads what it overwrites, and at the await that covers it,
// so that others read the element only behind a barrier that follows the await.
//
// Where a branch would begin with a barrier, the barrier stands before it: then
// all paths have it. And where a loop would have one for the sake of what was
// done before the loop alone, it stands before the loop.
//
// Thread-safe.
#ifndef EMBER_JIT_GPU_BARRIERS_H_
#define EMBER_JIT_GPU_BARRIERS_H_

#include <unordered_set>
#include <vector>

#include "jit/loops/loop_nest.h"

namespace ember::jit::gpu {

// Bytes of a workgroup's memory, from `begin` to the byte before `end`.
struct MemoryRange {
  int64_t begin = 0;
  int64_t end = 0;

  bool Meets(const MemoryRange& other) const {
    return begin < other.end && other.begin < end;
  }
};

struct SharedMemory {
  // By buffer: several invocations may touch an element.
  std::vector<bool> is_of_many;
  // By buffer: products of warpgroups read it (jit/gpu/shared_panels.h). For
  // those who look beyond barriers.
  std::vector<bool> has_panels;
  // Combining loops (jit/loops/combining.h) need memory, too.
  bool has_parts = false;
  // By buffer: where it is in the workgroup's memory; empty for those that are
  // elsewhere. Buffers whose ranges overlap count as one. The whole list may be
  // empty: then no two buffers overlap.
  std::vector<MemoryRange> ranges;
  // Subgroup loops that stand in a serial loop, and whose products go on until
  // those of its next turn have begun (jit/gpu/products_in_flight.h): what they
  // read, they read in that turn, too.
  std::unordered_set<const loops::Statement*> in_flight;
  // What other warps do than those that meet (jit/gpu/warp_roles.h).
  std::unordered_set<const loops::Statement*> of_others;
};

struct Barriers {
  // All meet before these, which stand outside of invocation loops.
  std::unordered_set<const loops::Statement*> before;
  // By buffer: an invocation has to see what another one stored, before they
  // met last or at any time before that.
  std::vector<bool> is_coherent;
  // By buffer: it is touched before and behind a barrier, and stored to, or it
  // may be the memory of one that is. All that are coherent are.
  std::vector<bool> is_ordered;
};

// What stands outside of the phase's invocation loops, all invocations do, but
// memory is stored to by the first one only.
Barriers PlanBarriers(const loops::LoopNest& nest, const loops::Block& body,
                      const SharedMemory& memory);

}  // namespace ember::jit::gpu

#endif  // EMBER_JIT_GPU_BARRIERS_H_
