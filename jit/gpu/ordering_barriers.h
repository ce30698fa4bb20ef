// Which barriers order stores for products of warpgroups: those instructions
// read panels (jit/gpu/shared_panels.h) by another way than loads do, and see
// what was stored there only if the thread that stored has made a fence for
// that way since, before a barrier (PTX: fence.proxy.async). A fence takes
// time, so it stands only at barriers behind such stores.
//
//   invocation i < 128 { %weights[i] = … }        // panels
//   invocation i < 128 { %totals[i] = … }         // barrier with a fence
//   subgroup s < 4 { … %weights … }               // barrier without
//
// A path through the phase is dirty from a store to panels on, until a barrier
// with a fence. An asynchronous store may be an ordinary one, and it may be
// done as late as its await.
//
// Decides, and emits nothing. Thread-safe.
#ifndef EMBER_JIT_GPU_ORDERING_BARRIERS_H_
#define EMBER_JIT_GPU_ORDERING_BARRIERS_H_

#include <unordered_set>
#include <vector>

#include "jit/loops/loop_nest.h"

namespace ember::jit::gpu {

// Of the barriers, which stand before their statements (jit/gpu/barriers.h),
// those that need a fence before them. has_panels: by buffer.
std::unordered_set<const loops::Statement*> FindOrderingBarriers(
    const loops::Block& body,
    const std::unordered_set<const loops::Statement*>& barriers,
    const std::vector<bool>& has_panels);

}  // namespace ember::jit::gpu

#endif  // EMBER_JIT_GPU_ORDERING_BARRIERS_H_
