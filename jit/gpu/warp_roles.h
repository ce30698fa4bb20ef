// Marks phases for warp specialisation. A workgroup then has two kinds of
// warps. Consumers multiply and do everything else in the phase. One producer
// only begins copies of boxes (jit/gpu/box_copies.h), as far ahead of the
// consumers as there are slots. The nest is an ordinary one:
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
// Barriers of slots (PTX's mbarrier) replace the order of the nest. Each slot
// has two: it is full when the copies that the producer has begun for an
// iteration have ended, and empty when all its readers have multiplied its
// contents. So in the loop a warp waits for another one only if that is behind
// by as many iterations as there are slots.
//
// Buffers whose slots are read by the same statements of an iteration form one
// ring: one fill brings a slot of each. Other buffers are rings of their own,
// with their own barriers and, if need be, their own number of slots. In
// attention, a slot of keys is empty after the product for the scores, and a
// slot of values after the second product. No order of rings can deadlock. The
// fills of iteration k all begin before those of iteration k + 1 of the same
// ring. A fill waits only until an earlier iteration has read its slot, and the
// fills of all rings for that iteration have begun by then (copies are fewer
// iterations ahead than there are slots).
//
// An additional warp takes registers from all others. That pays where the
// consumers have no barriers in the loop. With barriers (in attention, they
// share the work between the products) no consumer can be more than an
// iteration ahead of another. Then one thread of theirs begins the copies, at
// their place in the nest. It waits until the slot is empty, and never for its
// own warp, which has read the slot in an earlier iteration.
//
// Thread-safe.
#ifndef EMBER_JIT_GPU_WARP_ROLES_H_
#define EMBER_JIT_GPU_WARP_ROLES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "jit/gpu/shared_memory.h"
#include "jit/loops/loop_nest.h"
#include "jit/loops/workgroup.h"

namespace ember::jit::gpu {

struct WarpRoles {
  struct Ring {
    std::vector<uint32_t> buffers;
    int slots = 0;
    // Bytes of one fill: a slot of each of the ring's buffers.
    int64_t fill_bytes = 0;
    // The positions, in the body of the serial loop, of the subgroup loops that
    // read a slot of the ring in each iteration. Each such loop has `subgroups`
    // subgroups.
    std::vector<size_t> readers;
    int64_t subgroups = 0;
    // The index of the slot that an iteration reads: k mod n in iteration k.
    loops::NodeId slot = 0;
    // True if the reader's products stay in flight while the next iteration
    // begins. The slot is then released at the end of that iteration; otherwise
    // after its last reader.
    bool goes_on = false;
  };

  // position, in the phase's body, of the serial loop that reads the rings
  size_t loop = 0;
  std::vector<Ring> rings;

  // Number of barriers of slots: two for each slot.
  int64_t BarrierCount() const;
  // True if products of any ring stay in flight in the next iteration.
  bool GoesOn() const;
};

// Marks the statements of the phase, and describes its rings, if the phase has
// this form:
// - One serial loop, which is in no other statement, copies boxes to rings.
//   There are no other asynchronous stores or awaits than those of its rings.
// - All stores to the rings are copies of boxes: before the loop for iterations
//   0, 1, … in that order (at least one), and once in the loop, for the
//   iteration that is that many further. The copies of a ring for an iteration
//   follow each other, with only copies of other rings between them. They have a
//   condition only where there may be fewer iterations.
// - Only subgroup loops of the loop's body read the rings, in iteration k slot
//   k mod n. Nothing else touches their memory before the loop's end.
// Products of `subgroups` subgroups (jit/gpu/products_in_flight.h) stay in
// flight in the next iteration if there are slots for that, and if the loop
// stores to nothing else that they read. memory: where buffers are; panels: the
// panels of each buffer.
//
// The marks are Statement::of_producer (copies, and branches that contain only
// copies), box and stays_in_flight. Steps of slots (Statement::Kind::kSlot)
// take the place of awaits. If the phase has another form, returns nothing and
// leaves the body as it is.
std::optional<WarpRoles> MarkWarpRoles(loops::LoopNest& nest, int64_t subgroups,
                                       const SharedMemory& memory,
                                       const std::vector<loops::Panels>& panels,
                                       loops::Block& body);

}  // namespace ember::jit::gpu

#endif  // EMBER_JIT_GPU_WARP_ROLES_H_
