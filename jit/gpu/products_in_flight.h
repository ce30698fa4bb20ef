// Marks products of warpgroups (wgmma) that may stay in flight while the next
// iteration of their loop begins. The barrier of an iteration need not wait for
// the products that the previous one issued, if nothing stores to their factors
// until the iteration has issued its own. Then the hardware always has products
// to work on.
//
//   for k < 64 {
//     await 1
//     subgroup s < 8 { matrix … += f32(%a[k mod 4, …]) * f32(%b[k mod 4, …]) }
//     if k + 2 < 64 { invocation i < 256 { async %a[(k + 2) mod 4, …] = … } }
//   }
//
// Iteration k stores to the slot that iteration k - 2 read. The products of
// that iteration are complete: iteration k - 1 waited for them after it issued
// its own, and the barrier of iteration k comes after that. So a ring needs one
// slot more than the number of iterations that copies are ahead (double_buffer
// … spare).
//
// Thread-safe.
#ifndef EMBER_JIT_GPU_PRODUCTS_IN_FLIGHT_H_
#define EMBER_JIT_GPU_PRODUCTS_IN_FLIGHT_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "jit/gpu/shared_memory.h"
#include "jit/loops/loop_nest.h"

namespace ember::jit::gpu {

// Marks the subgroup loops of the phase whose products may stay in flight
// (Statement::stays_in_flight), and returns true if there are any. Each is in a
// serial loop with these properties:
// - The subgroup loop, of all subgroups, has all matrix operations of an
//   iteration. They are products of several warps, one after the other, with
//   both factors in panels (SharedMemory::has_panels) and none in registers,
//   which would change while the products are in flight.
// - Nothing in the loop stores to the memory of their factors, except to slots
//   of rings that neither this iteration's products read nor those of the one
//   before.
// Barriers then have to count the reads of an iteration as reads of the next
// one, too (jit/gpu/barriers.h).
bool MarkProductsInFlight(const loops::LoopNest& nest,
                          const SharedMemory& memory, int64_t subgroups,
                          loops::Block& body);

// Returns the position, in the body of a serial loop, of the subgroup loop for
// which the first of these conditions holds; nothing if there is none. The
// second condition is not checked: the caller must ensure that nothing is
// stored to memory that products in flight still read (jit/gpu/warp_roles.h).
std::optional<size_t> FindProducts(const loops::LoopNest& nest,
                                   const loops::Statement& loop,
                                   const SharedMemory& memory,
                                   int64_t subgroups);

}  // namespace ember::jit::gpu

#endif  // EMBER_JIT_GPU_PRODUCTS_IN_FLIGHT_H_
