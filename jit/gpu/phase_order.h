// The last part of a phase's plan: when what is done, between buffers that have
// their places. Where invocations of a workgroup meet (jit/gpu/barriers.h),
// which products go on beyond that (jit/gpu/products_in_flight.h), and whether
// a warp of its own copies for the others (jit/gpu/warp_roles.h).
//
//   PlanOrder(nest, phase, device, plan);   // of Mode::kInvocations
//
// Thread-safe.
#ifndef EMBER_JIT_GPU_PHASE_ORDER_H_
#define EMBER_JIT_GPU_PHASE_ORDER_H_

#include <unordered_set>

#include "jit/gpu/device_traits.h"
#include "jit/gpu/phase_plan.h"
#include "jit/loops/loop_nest.h"

namespace ember::jit::gpu {

// Where invocations of a phase would meet if no two of its buffers were in one
// place; where the device copies boxes, as if nobody waited for copies.
std::unordered_set<const loops::Statement*> BarriersOfBuffersApart(
    const loops::LoopNest& nest, const loops::Block& body,
    const DeviceTraits& device, const PhasePlan& plan);

void PlanOrder(const loops::LoopNest& nest, const loops::Phase& phase,
               const DeviceTraits& device, PhasePlan& plan);

}  // namespace ember::jit::gpu

#endif  // EMBER_JIT_GPU_PHASE_ORDER_H_
