// Marks the barriers that must order stores for products of warpgroups. These
// instructions read panels (jit/target/shared_panels.h) through another proxy
// than loads do. They see a store only if the thread that stored has since made
// a fence for that proxy, before a barrier (PTX: fence.proxy.async). A fence
// takes time, so only barriers that follow such stores have one.
//
//   invocation i < 128 { %weights[i] = … }        // panels
//   invocation i < 128 { %totals[i] = … }         // barrier with a fence
//   subgroup s < 4 { … %weights … }               // barrier without a fence
//
// A path through the phase is dirty from a store to panels on, until a barrier
// with a fence. An asynchronous store makes the path dirty at its await: it may
// be executed as an ordinary store, and may be complete only there.
//
// Thread-safe.
#ifndef EMBER_JIT_GPU_ORDERING_BARRIERS_H_
#define EMBER_JIT_GPU_ORDERING_BARRIERS_H_

#include <vector>

#include "jit/loops/loop_nest.h"

namespace ember::jit::gpu {

// Marks the barriers of the body that need a fence before them
// (Statement::orders_stores). has_panels: for each buffer, true if it has
// panels. Copies of boxes (Statement::box) use the proxy of the products, so
// they need no fence.
void MarkOrderingBarriers(const std::vector<bool>& has_panels,
                          loops::Block& body);

}  // namespace ember::jit::gpu

#endif  // EMBER_JIT_GPU_ORDERING_BARRIERS_H_
