// Counts and removes barriers and waits of a device nest in tests
// (jit/gpu/insert_barriers.h, warp_roles.h).
//
//   for (size_t i = 0; i < CountBarriers(nest); ++i)
//     EXPECT_FALSE(Evaluate(WithoutBarrier(nest, i)).ok());
#ifndef EMBER_JIT_GPU_TESTING_BARRIERS_H_
#define EMBER_JIT_GPU_TESTING_BARRIERS_H_

#include <cstddef>

#include "jit/loops/loop_nest.h"

namespace ember::jit::gpu {

// Returns the number of barrier statements in the nest or the block.
size_t CountBarriers(const loops::LoopNest& nest);
size_t CountBarriers(const loops::Block& block);

// Returns the nest without barrier number `number`, in the order of the text.
loops::LoopNest WithoutBarrier(loops::LoopNest nest, size_t number);

// CountWaits and WithoutWait count and remove waits in the same way. Waits are
// awaits of asynchronous stores, and the steps of ring slots (fill, await,
// release).
size_t CountWaits(const loops::LoopNest& nest);
loops::LoopNest WithoutWait(loops::LoopNest nest, size_t number);

}  // namespace ember::jit::gpu

#endif  // EMBER_JIT_GPU_TESTING_BARRIERS_H_
