// Finds products of warpgroups (wgmma) that may stay in flight while the next
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
// Decides, and emits nothing. Thread-safe.
#ifndef EMBER_JIT_GPU_PRODUCTS_IN_FLIGHT_H_
#define EMBER_JIT_GPU_PRODUCTS_IN_FLIGHT_H_

#include <cstdint>
#include <vector>

#include "jit/gpu/barriers.h"
#include "jit/loops/loop_nest.h"

namespace ember::jit::gpu {

struct ProductsInFlight {
  // A serial loop; all products are awaited after it.
  const loops::Statement* loop = nullptr;
  // The subgroup loop with the products, in the body of `loop`. The products
  // may stay in flight; at the end of the body all products that began before
  // them are awaited.
  const loops::Statement* products = nullptr;
};

// Returns the loops of the phase whose products may stay in flight:
// - One subgroup loop in the body, of all subgroups, has all matrix operations
//   of an iteration. They are products of several warps, one after the other,
//   with both factors in panels (SharedMemory::has_panels) and none in
//   registers, which would change while the products are in flight.
// - Nothing in the loop stores to the memory of their factors, except to slots
//   of rings that neither this iteration's products read nor those of the one
//   before.
// Barriers then have to count the reads of an iteration as reads of the next
// one, too (SharedMemory::in_flight).
std::vector<ProductsInFlight> FindProductsInFlight(const loops::LoopNest& nest,
                                                   const loops::Block& body,
                                                   const SharedMemory& memory,
                                                   int64_t subgroups);

// Returns the loops of which FindProductsInFlight's first condition holds: all
// matrix operations of an iteration are products of panels in one subgroup
// loop. The second condition is not checked: the caller must ensure that
// nothing is stored to memory that products in flight still read
// (jit/gpu/warp_roles.h).
std::vector<ProductsInFlight> FindProductLoops(const loops::LoopNest& nest,
                                               const loops::Block& body,
                                               const SharedMemory& memory,
                                               int64_t subgroups);

}  // namespace ember::jit::gpu

#endif  // EMBER_JIT_GPU_PRODUCTS_IN_FLIGHT_H_
