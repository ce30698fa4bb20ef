// Inserts the barriers that the invocations of a workgroup need, as statements,
// into a nest whose buffers are placed, and marks the products that stay in
// flight across them.
//
//   EMBER_RETURN_IF_ERROR(InsertBarriers(device, nest));
//
//   for k < 8 {                                     for k < 8 {
//     invocation i < 64 { %tile[i] = … }              barrier
//     invocation i < 64 { … %tile[…] … }              invocation i < 64 { … }
//   }                                                 barrier
//                                                     invocation i < 64 { … }
//                                                   }
//
// jit/gpu/barriers.h finds where barriers are needed. Emitters emit a barrier
// where the nest has one, and nowhere else. Slots of rings have steps of their
// own (jit/gpu/warp_roles.h). The evaluator of nests finds accesses that no
// barrier separates.
//
// Thread-safe.
#ifndef EMBER_JIT_GPU_INSERT_BARRIERS_H_
#define EMBER_JIT_GPU_INSERT_BARRIERS_H_

#include "base/status.h"
#include "jit/gpu/device_traits.h"
#include "jit/loops/loop_nest.h"
#include "jit/loops/workgroup.h"

namespace ember::jit::gpu {

// Inserts barriers into all phases of the nest, whose buffers are placed for
// the device (jit/gpu/place_buffers.h) and whose warps have their roles
// (jit/gpu/specialise_warps.h). Marks products that stay in flight
// (jit/gpu/products_in_flight.h) and barriers that order stores
// (jit/gpu/ordering_barriers.h), and completes the workgroups: says which
// memory is coherent and ordered. A nest that already has barriers gets no
// others. A dot loop with a barrier in it becomes an unrolled loop. Never
// fails.
Status InsertBarriers(const DeviceTraits& device, loops::LoopNest& nest);

// Returns the body of a phase with the barriers that it would have if no two
// buffers shared bytes. If the device copies boxes, barriers that only wait for
// copies are left out; these copies are then marked as those of a producer.
loops::Block WithBarriersOfBuffersApart(const loops::LoopNest& nest,
                                        const DeviceTraits& device,
                                        const loops::Workgroup& workgroup,
                                        loops::Block body);

}  // namespace ember::jit::gpu

#endif  // EMBER_JIT_GPU_INSERT_BARRIERS_H_
