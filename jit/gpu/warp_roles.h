// Phases whose workgroup is of two kinds of warps: consumers, which multiply
// and do all else that the phase says, and one producer, a warp more, which
// only begins copies of boxes (jit/gpu/box_copies.h), as far ahead of them as
// there are slots. The nest is any other one:
//
//   invocation i < 256 { async %a[0, …] = … }            // producer: slot 0
//   await 1
//   invocation i < 256 { async %a[1, …] = … }            // producer: slot 1
//   for k < 64 {
//     await 1
//     subgroup s < 8 { matrix … += f32(%a[k mod 4, …]) … }   // consumers
//     if k + 2 < 64 {
//       invocation i < 256 { async %a[(k + 2) mod 4, …] = … }  // producer
//     }
//   }
//
// What the nest's order says, barriers of slots see to (PTX's mbarrier), of
// which each slot has two: it is full, when the copies that the producer has
// begun for a turn have ended; and it is empty, when all consumers have
// multiplied what was in it. So in the loop no warp waits for another one that
// is not behind by as many turns as there are slots.
//
// Decides, and emits nothing. Thread-safe.
#ifndef EMBER_JIT_GPU_WARP_ROLES_H_
#define EMBER_JIT_GPU_WARP_ROLES_H_

#include <cstdint>
#include <map>
#include <optional>
#include <unordered_set>
#include <vector>

#include "jit/gpu/barriers.h"
#include "jit/gpu/box_copies.h"
#include "jit/gpu/products_in_flight.h"
#include "jit/gpu/shared_panels.h"
#include "jit/loops/loop_nest.h"

namespace ember::jit::gpu {

struct WarpRoles {
  // The loop of turns, and its products, which go on in the next turn.
  ProductsInFlight turns;
  int slots = 0;
  // Of a slot of all rings.
  int64_t fill_bytes = 0;
  // By the invocation loop that each of them is. Those that begin a fill: what
  // they copy, and those behind them until the next one, is for one turn.
  std::map<const loops::Statement*, BoxCopy> copies;
  std::unordered_set<const loops::Statement*> begins_fill;
  // What consumers leave out: the copies, branches that have nothing else, and
  // awaits.
  std::unordered_set<const loops::Statement*> of_producer;
  // The index of the slot that the products of a turn read: k mod n in turn k.
  loops::NodeId slot = 0;
  // Buffers that are rings of it.
  std::vector<uint32_t> rings;
};

// Nothing, where the phase is not of this form:
//   - it has one loop of products of panels (FindProductLoops), which stands in
//     no other statement, and no other asynchronous stores or awaits than those
//     of its rings;
//   - all stores to the rings are copies of boxes: before the loop for turns 0,
//     1, … in that order, and in it once, for the turn that many further on;
//     copies of a turn are together, under a condition only where there may be
//     fewer turns;
//   - nothing reads the rings but the loop's products, turn k slot k mod n; and
//     nothing else touches their memory before the loop's end.
// panels: by buffer; memory: where buffers are.
std::optional<WarpRoles> FindWarpRoles(
    const loops::LoopNest& nest, const loops::Block& body,
    const std::vector<ProductsInFlight>& turns, const SharedMemory& memory,
    const std::vector<SharedPanels>& panels);

}  // namespace ember::jit::gpu

#endif  // EMBER_JIT_GPU_WARP_ROLES_H_
