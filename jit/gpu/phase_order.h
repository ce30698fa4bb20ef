// Plans the order of a phase, the last part of its plan, once buffers have
// their storage. The order consists of the decisions where invocations of a
// workgroup need barriers (jit/gpu/barriers.h), which products stay in flight
// across them (jit/gpu/products_in_flight.h), and whether a warp of its own
// copies for the others (jit/gpu/warp_roles.h).
//
//   const PhaseBarriers barriers =
//       PlanOrder(nest, phase, device, plan);   // of Mode::kInvocations
//
// Thread-safe.
#ifndef EMBER_JIT_GPU_PHASE_ORDER_H_
#define EMBER_JIT_GPU_PHASE_ORDER_H_

#include <unordered_set>

#include "jit/gpu/device_traits.h"
#include "jit/gpu/phase_plan.h"
#include "jit/loops/loop_nest.h"

namespace ember::jit::gpu {

// Returns the statements that would need a barrier before them if no two
// buffers of the phase shared bytes. If the device copies boxes, barriers
// that only wait for copies are left out.
std::unordered_set<const loops::Statement*> BarriersOfBuffersApart(
    const loops::LoopNest& nest, const loops::Block& body,
    const DeviceTraits& device, const PhasePlan& plan);

// Completes the plan, and returns the barriers of the phase.
PhaseBarriers PlanOrder(const loops::LoopNest& nest, const loops::Phase& phase,
                        const DeviceTraits& device, PhasePlan& plan);

}  // namespace ember::jit::gpu

#endif  // EMBER_JIT_GPU_PHASE_ORDER_H_
