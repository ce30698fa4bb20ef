// Finds the order of a phase whose buffers are placed
// (jit/gpu/place_buffers.h): where invocations of a workgroup need barriers
// (jit/gpu/barriers.h), which products stay in flight across them
// (jit/gpu/products_in_flight.h), and whether a warp of its own copies for the
// others (jit/gpu/warp_roles.h).
//
//   loops::Workgroup workgroup = phase.workgroup;
//   const PhaseOrder order = OrderPhase(nest, phase, device, workgroup);
//
// The order is the same before and after barriers are inserted
// (jit/gpu/insert_barriers.h). It points to statements of the phase. Emits
// nothing. Thread-safe.
#ifndef EMBER_JIT_GPU_PHASE_ORDER_H_
#define EMBER_JIT_GPU_PHASE_ORDER_H_

#include <optional>
#include <unordered_set>
#include <vector>

#include "jit/gpu/device_traits.h"
#include "jit/gpu/products_in_flight.h"
#include "jit/gpu/warp_roles.h"
#include "jit/loops/loop_nest.h"

namespace ember::jit::gpu {

struct PhaseOrder {
  // Statements with a barrier of the workgroup before them. If the producer is
  // a subgroup of its own (Workgroup::has_producer), the barriers are those of
  // the other subgroups.
  std::unordered_set<const loops::Statement*> before;
  // The statements of `before` whose barriers also order earlier stores for
  // products of warpgroups (jit/gpu/ordering_barriers.h).
  std::unordered_set<const loops::Statement*> ordering;
  // True if a barrier ends the phase: in a persistent kernel the next task uses
  // the workgroup's memory again.
  bool at_end = false;
  // Loops whose products stay in flight across barriers.
  std::vector<ProductsInFlight> in_flight;
  // Set if one subgroup or thread copies for all.
  std::optional<WarpRoles> roles;
};

// Returns the statements that would need a barrier before them if no two
// buffers of the phase shared bytes. If the device copies boxes, barriers
// that only wait for copies are left out.
std::unordered_set<const loops::Statement*> BarriersOfBuffersApart(
    const loops::LoopNest& nest, const loops::Block& body,
    const DeviceTraits& device, const loops::Workgroup& workgroup);

// Returns the order of the phase, and completes its workgroup: which memory is
// coherent and ordered, and what a producer and a persistent kernel need. A
// complete workgroup stays as it is.
PhaseOrder OrderPhase(const loops::LoopNest& nest, const loops::Phase& phase,
                      const DeviceTraits& device, loops::Workgroup& workgroup);

}  // namespace ember::jit::gpu

#endif  // EMBER_JIT_GPU_PHASE_ORDER_H_
