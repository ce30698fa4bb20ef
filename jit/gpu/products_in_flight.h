// Products of warpgroups (wgmma) that go on while the next turn of their loop
// begins: the barrier of a turn need not wait for what the turn before began to
// multiply, if nothing stores to its factors until the turn's own products have
// begun. Then the hardware always has products to work on.
//
//   for k < 64 {
//     await 1
//     subgroup s < 8 { matrix … += f32(%a[k mod 4, …]) * f32(%b[k mod 4, …]) }
//     if k + 2 < 64 { invocation i < 256 { async %a[(k + 2) mod 4, …] = … } }
//   }
//
// Turn k stores to the slot that turn k - 2 read. The products of that turn are
// over: turn k - 1 waited for them, behind the begin of its own, and the
// barrier of turn k behind that. So it takes one slot more than the turns that
// copies are ahead (double_buffer … spare).
//
// Decides, and emits nothing. Thread-safe.
#ifndef EMBER_JIT_GPU_PRODUCTS_IN_FLIGHT_H_
#define EMBER_JIT_GPU_PRODUCTS_IN_FLIGHT_H_

#include <cstdint>
#include <vector>

#include "jit/gpu/barriers.h"
#include "jit/loops/loop_nest.h"

namespace ember::jit::gpu {

struct ProductsInFlight {
  // Serial; behind it, all products are awaited.
  const loops::Statement* loop = nullptr;
  // Of its body: the subgroup loop with its products. At the body's end, all
  // that began before these are awaited.
  const loops::Statement* products = nullptr;
};

// The loops of the phase whose products may go on so:
//   - one subgroup loop in the body, of all subgroups, has all matrix
//     operations of a turn: products of several warps, one after the other,
//     with both factors in panels (SharedMemory::has_panels) and none in
//     registers, which would change while they go on;
//   - nothing in the loop stores to their factors' memory, but for slots of
//     rings that neither this turn's products read nor those of the turn
//     before.
// What a turn reads, barriers then have to take for read in the next one, too
// (SharedMemory::in_flight).
std::vector<ProductsInFlight> FindProductsInFlight(const loops::LoopNest& nest,
                                                   const loops::Block& body,
                                                   const SharedMemory& memory,
                                                   int64_t subgroups);

// Those of which only the first holds: where somebody else sees to it that
// nothing is stored to what products still read (jit/gpu/warp_roles.h).
std::vector<ProductsInFlight> FindProductLoops(const loops::LoopNest& nest,
                                               const loops::Block& body,
                                               const SharedMemory& memory,
                                               int64_t subgroups);

}  // namespace ember::jit::gpu

#endif  // EMBER_JIT_GPU_PRODUCTS_IN_FLIGHT_H_
