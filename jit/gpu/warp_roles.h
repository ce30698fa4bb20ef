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
// begun for a turn have ended; and it is empty, when all who read it have
// multiplied what was in it. So in the loop no warp waits for another one that
// is not behind by as many turns as there are slots.
//
// Buffers whose slots the same statements of a turn read are one ring: one fill
// brings a slot of each. Others are rings of their own, with barriers and, if
// need be, a number of slots of their own: of attention, a slot of keys is
// empty when the scores have been multiplied, and one of values after the
// second product. No order of rings can block: the fills of turn k are all
// begun before those of turn k + 1 of the same ring, and a fill waits for
// nothing but that a turn has read what was in its slot, at least one turn
// before, whose fills of all rings have begun by then (fewer turns ahead than
// there are slots).
//
// An additional warp takes registers from all others, which pays where the
// consumers do not meet at barriers in the loop. Where they do (in attention,
// they share out what stands between the products), none of them can be more
// than a turn ahead of another, and one thread of theirs begins the copies, at
// the place that they have in the nest. It waits until the slot is empty, and
// that cannot be for its own warp: this has read what was in the slot in an
// earlier turn.
//
// Decides, and emits nothing. Thread-safe.
#ifndef EMBER_JIT_GPU_WARP_ROLES_H_
#define EMBER_JIT_GPU_WARP_ROLES_H_

#include <cstddef>
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
  struct Ring {
    std::vector<uint32_t> buffers;
    int slots = 0;
    int64_t fill_bytes = 0;  // of a slot of all buffers
    // Of the loop's body, in its order: the subgroup loops that read a slot in
    // each turn, of so many subgroups each.
    std::vector<const loops::Statement*> readers;
    int64_t subgroups = 0;
    // The index of the slot that a turn reads: k mod n in turn k.
    loops::NodeId slot = 0;
    // The reader's products go on in the next turn (ProductsInFlight), at the
    // end of which the slot is empty; else it is behind the last reader.
    bool goes_on = false;
  };
  struct Copy {
    BoxCopy box;
    size_t ring = 0;
    // What the ring's buffers get from here until the next one that begins a
    // fill, is for one turn.
    bool begins_fill = false;
  };

  // The producer is a warp of its own; else a thread of the consumers' last
  // one.
  bool has_warp = true;
  const loops::Statement* loop = nullptr;  // of turns
  std::vector<Ring> rings;
  // By the invocation loop that each of them is.
  std::map<const loops::Statement*, Copy> copies;
  // What consumers leave out, or do nothing in: the copies, branches that have
  // nothing else, and awaits.
  std::unordered_set<const loops::Statement*> of_producer;

  // Barriers of slots, two each.
  int64_t BarrierCount() const;
  // Whether products of any ring go on in the next turn.
  bool GoesOn() const;
};

// Nothing, where the phase is not of this form:
//   - one serial loop, which stands in no other statement, copies boxes to
//     rings, and there are no other asynchronous stores or awaits than those of
//     its rings;
//   - all stores to the rings are copies of boxes: before the loop for turns 0,
//     1, … in that order, and in it once, for the turn that many further on, at
//     least one; a ring's copies of a turn follow each other but for other
//     rings' copies, under a condition only where there may be fewer turns;
//   - nothing reads the rings but subgroup loops of the loop's body, turn k
//     slot k mod n; and nothing else touches their memory before the loop's
//     end.
// product_loops: by FindProductLoops; their products go on in the next turn, if
// there are slots for it, and what else they read is not stored to in the loop.
// panels: by buffer; memory: where buffers are.
std::optional<WarpRoles> FindWarpRoles(
    const loops::LoopNest& nest, const loops::Block& body,
    const std::vector<ProductsInFlight>& product_loops,
    const SharedMemory& memory, const std::vector<SharedPanels>& panels);

}  // namespace ember::jit::gpu

#endif  // EMBER_JIT_GPU_WARP_ROLES_H_
