#include "jit/gpu/insert_barriers.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/check.h"
#include "jit/gpu/barriers.h"
#include "jit/gpu/ordering_barriers.h"
#include "jit/gpu/products_in_flight.h"
#include "jit/gpu/rings.h"
#include "jit/gpu/shared_memory.h"
#include "jit/loops/walk.h"
#include "jit/loops/workgroup.h"

namespace ember::jit::gpu {

using loops::Block;
using loops::BufferStorage;
using loops::LoopKind;
using loops::Statement;
using loops::StorageKind;
using loops::Workgroup;

namespace {

Statement Barrier() {
  Statement barrier;
  barrier.kind = Statement::Kind::kBarrier;
  return barrier;
}

// Replaces the barriers of a phase's body by those that PlanBarriers found.
class BarrierWriter {
 public:
  explicit BarrierWriter(const Barriers& barriers) : barriers_(barriers) {}

  void Write(Block& block) {
    Block result;
    for (Statement& statement : block) {
      if (statement.kind == Statement::Kind::kBarrier) continue;
      if (barriers_.before[number_++]) result.push_back(Barrier());
      Write(statement.body);
      const bool is_dot = statement.kind == Statement::Kind::kFor &&
                          statement.loop == LoopKind::kDot;
      if (is_dot && loops::HasBarrier(statement.body))
        statement.loop = LoopKind::kUnrolled;
      result.push_back(std::move(statement));
    }
    block = std::move(result);
  }

 private:
  const Barriers& barriers_;
  size_t number_ = 0;  // number of the next statement, in the order of the text
};

void ClearProductsInFlight(Block& block) {
  for (Statement& statement : block) {
    statement.stays_in_flight = false;
    ClearProductsInFlight(statement.body);
  }
}

// Marks the asynchronous copies and awaits of the block as a producer's, so
// that no barrier is planned that only waits for copies.
void LeaveCopiesToProducer(Block& block) {
  for (Statement& statement : block) {
    statement.of_producer = loops::IsInvocationLoop(statement)
                                ? HasAsyncStore(statement)
                                : statement.kind == Statement::Kind::kAwait;
    LeaveCopiesToProducer(statement.body);
  }
}

// Returns the barriers that the phase needs. Products stay in flight in the
// next iteration where that takes no more barriers, and are marked. In a phase
// with rings specialise-warps has set these marks, so they stay.
Barriers PlanPhase(const loops::LoopNest& nest, const DeviceTraits& device,
                   const SharedMemory& memory, loops::Phase& phase) {
  if (!phase.workgroup.rings.empty())
    return PlanBarriers(nest, phase.body, memory);
  ClearProductsInFlight(phase.body);
  Barriers barriers = PlanBarriers(nest, phase.body, memory);
  if (!phase.workgroup.HasPanels()) return barriers;
  const int64_t subgroups = phase.workgroup.invocations / device.subgroup_size;
  if (!MarkProductsInFlight(nest, memory, subgroups, phase.body))
    return barriers;
  Barriers others = PlanBarriers(nest, phase.body, memory);
  if (others.Count() <= barriers.Count()) return others;
  ClearProductsInFlight(phase.body);
  return barriers;
}

// Records in the phase's workgroup which memory is coherent or ordered. If
// `inserts` is true, also inserts the barriers.
void OrderPhase(const loops::LoopNest& nest, const DeviceTraits& device,
                bool inserts, loops::Phase& phase) {
  Workgroup& workgroup = phase.workgroup;
  if (workgroup.mode != Workgroup::Mode::kInvocations) return;
  const SharedMemory memory = SharedMemoryOf(nest, workgroup, device);
  const Barriers barriers = PlanPhase(nest, device, memory, phase);
  for (size_t i = 0; i < workgroup.storage.size(); ++i) {
    BufferStorage& storage = workgroup.storage[i];
    const bool is_memory = storage.kind == StorageKind::kMemory ||
                           storage.kind == StorageKind::kSlices;
    storage.is_coherent = is_memory && barriers.is_coherent[i];
    storage.is_ordered = is_memory && barriers.is_ordered[i];
  }
  if (!inserts) return;
  BarrierWriter(barriers).Write(phase.body);
  MarkOrderingBarriers(memory.has_panels, phase.body);
  // In a persistent kernel the workgroup's next task reuses its memory, so a
  // barrier ends the task.
  const bool has_next_task =
      workgroup.has_producer && workgroup.most_workgroups != 0;
  if (has_next_task && barriers.Count() > 0) phase.body.push_back(Barrier());
}

}  // namespace

Status InsertBarriers(const DeviceTraits& device, loops::LoopNest& nest) {
  EMBER_CHECK(loops::IsPlaced(nest)) << "the buffers of @" << nest.name;
  const auto has_barrier = [](const loops::Phase& phase) {
    return loops::HasBarrier(phase.body);
  };
  const bool has_barriers = std::ranges::any_of(nest.prologue, has_barrier) ||
                            std::ranges::any_of(nest.phases, has_barrier);
  for (std::vector<loops::Phase>* const phases :
       {&nest.prologue, &nest.phases}) {
    for (loops::Phase& phase : *phases)
      OrderPhase(nest, device, !has_barriers, phase);
  }
  return OkStatus();
}

Block WithBarriersOfBuffersApart(const loops::LoopNest& nest,
                                 const DeviceTraits& device,
                                 const loops::Workgroup& workgroup,
                                 Block body) {
  ClearProductsInFlight(body);
  if (device.copies_boxes) LeaveCopiesToProducer(body);
  const Barriers barriers =
      PlanBarriers(nest, body, SharedMemoryApart(workgroup));
  BarrierWriter(barriers).Write(body);
  return body;
}

}  // namespace ember::jit::gpu
