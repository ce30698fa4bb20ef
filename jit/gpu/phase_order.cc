#include "jit/gpu/phase_order.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "base/dtype.h"
#include "base/rounding.h"
#include "jit/gpu/barriers.h"
#include "jit/gpu/constant_elements.h"
#include "jit/gpu/ordering_barriers.h"
#include "jit/gpu/products_in_flight.h"
#include "jit/gpu/rings.h"
#include "jit/gpu/task_shares.h"
#include "jit/gpu/warp_roles.h"
#include "jit/loops/walk.h"
#include "tensor/builder/coefficient.h"

namespace ember::jit::gpu {

using loops::BufferStorage;
using loops::NodeId;
using loops::StorageKind;
using loops::Workgroup;

namespace {

bool IsOfMany(const BufferStorage& storage) {
  return storage.kind == StorageKind::kMemory ||
         storage.kind == StorageKind::kSlices ||
         storage.kind == StorageKind::kShared;
}

// Returns the bytes of the workgroup's memory that the buffer takes. The range
// is empty if the buffer has no offset.
MemoryRange RangeOf(const loops::LoopNest& nest, size_t buffer,
                    const BufferStorage& storage) {
  if (!storage.offset) return {};
  const loops::Buffer& found = nest.buffers[buffer];
  return {*storage.offset, *storage.offset + ConstantElements(nest, found) *
                                                 DTypeByteSize(found.type)};
}

// Collects the asynchronous copies and the awaits of the block.
void FindCopies(const loops::Block& block,
                std::unordered_set<const loops::Statement*>& found) {
  for (const loops::Statement& statement : block) {
    const bool is_copy = loops::IsInvocationLoop(statement)
                             ? HasAsyncStore(statement)
                             : statement.kind == loops::Statement::Kind::kAwait;
    if (is_copy) found.insert(&statement);
    FindCopies(statement.body, found);
  }
}

class OrderPlanner {
 public:
  OrderPlanner(const loops::LoopNest& nest, const loops::Phase& phase,
               const DeviceTraits& device, Workgroup& workgroup)
      : nest_(nest), phase_(phase), device_(device), workgroup_(workgroup) {}

  PhaseOrder Run() {
    NoteMemory();
    barriers_ = PlanBarriers(nest_, phase_.body, memory_);
    LetProductsGoOn();
    GiveRoles();
    for (size_t i = 0; i < workgroup_.storage.size(); ++i) {
      BufferStorage& storage = workgroup_.storage[i];
      const bool is_memory = storage.kind == StorageKind::kMemory ||
                             storage.kind == StorageKind::kSlices;
      storage.is_coherent = is_memory && barriers_.is_coherent[i];
      storage.is_ordered = is_memory && barriers_.is_ordered[i];
    }
    order_.before = std::move(barriers_.before);
    order_.ordering =
        FindOrderingBarriers(phase_.body, order_.before, memory_.has_panels);
    order_.at_end = workgroup_.has_producer &&
                    workgroup_.most_workgroups != 0 &&
                    (workgroup_.parts > 1 || !order_.before.empty());
    return std::move(order_);
  }

 private:
  void NoteMemory() {
    memory_.has_parts = workgroup_.parts > 0;
    for (size_t i = 0; i < workgroup_.storage.size(); ++i) {
      const BufferStorage& storage = workgroup_.storage[i];
      if (device_.keeps_elements)
        memory_.ranges.push_back(RangeOf(nest_, i, storage));
      memory_.is_of_many.push_back(IsOfMany(storage));
      memory_.has_panels.push_back(storage.panels.Any());
      panels_.push_back(storage.panels);
    }
  }

  // Lets products stay in flight in the next iteration, where that takes no
  // more barriers.
  void LetProductsGoOn() {
    if (!workgroup_.HasPanels()) return;
    order_.in_flight =
        FindProductsInFlight(nest_, phase_.body, memory_,
                             workgroup_.invocations / device_.subgroup_size);
    if (order_.in_flight.empty()) return;
    for (const ProductsInFlight& each : order_.in_flight)
      memory_.in_flight.insert(each.products);
    Barriers others = PlanBarriers(nest_, phase_.body, memory_);
    if (others.before.size() > barriers_.before.size())
      order_.in_flight.clear();
    else
      barriers_ = std::move(others);
  }

  // Specialises warps where the device copies boxes. Phases with checks are
  // left out: an invocation that fails a check would leave the producer
  // waiting.
  void GiveRoles() {
    if (!device_.copies_boxes || workgroup_.has_checks ||
        !workgroup_.HasPanels()) {
      return;
    }
    const std::vector<ProductsInFlight> product_loops =
        FindProductLoops(nest_, phase_.body, memory_,
                         workgroup_.invocations / device_.subgroup_size);
    std::optional<WarpRoles> roles =
        FindWarpRoles(nest_, phase_.body, product_loops, memory_, panels_);
    const bool has_room =
        workgroup_.invocations + device_.subgroup_size <= device_.invocations;
    if (!roles || !ProducerHasAll(*roles) || (roles->GoesOn() && !has_room))
      return;
    // A complete workgroup already has the barriers of slots.
    const int64_t begin =
        workgroup_.slot_barriers != 0
            ? workgroup_.slot_barriers
            : RoundUp(workgroup_.shared_bytes, loops::kSlotBarrierBytes);
    const int64_t end =
        begin + roles->BarrierCount() * loops::kSlotBarrierBytes;
    if (end > device_.shared_bytes) return;
    workgroup_.shared_bytes = end;
    workgroup_.slot_barriers = begin;
    order_.in_flight.clear();
    memory_.in_flight.clear();
    memory_.of_others = roles->of_producer;
    for (const WarpRoles::Ring& ring : roles->rings) {
      // Copies of boxes use the same proxy as products, so their buffers need
      // no fence.
      for (const uint32_t buffer : ring.buffers)
        memory_.has_panels[buffer] = false;
      if (!ring.goes_on || !memory_.in_flight.insert(ring.readers[0]).second)
        continue;
      order_.in_flight.push_back({roles->loop, ring.readers[0]});
    }
    barriers_ = PlanBarriers(nest_, phase_.body, memory_);
    roles->has_warp =
        roles->GoesOn() || (has_room && !HasBarriers(roles->loop->body));
    workgroup_.has_producer = roles->has_warp;
    order_.roles = std::move(roles);
    if (workgroup_.has_producer) GoOnToTasks();
  }

  bool HasBarriers(const loops::Block& block) const {
    return std::ranges::any_of(block, [&](const loops::Statement& statement) {
      return barriers_.before.contains(&statement) ||
             HasBarriers(statement.body);
    });
  }

  // True if all that the producer reads is memory that the phase does not
  // write. The producer computes nothing that the others do, and waits for none
  // of it. Slices are excluded: each workgroup has one slice, for one task at a
  // time.
  bool ProducerHasAll(const WarpRoles& roles) const {
    const auto is_there = [this](NodeId id) {
      const tensor::Node& node = nest_.pool[id];
      if (node.opcode != tensor::Opcode::kLoad &&
          node.opcode != tensor::Opcode::kPad) {
        return true;
      }
      const BufferStorage& storage = workgroup_.storage[node.buffer];
      return storage.kind == StorageKind::kMemory && !storage.is_written;
    };
    std::vector<NodeId> roots = {
        loops::ExtentOf(nest_.pool, roles.loop->variable)};
    for (const auto& [statement, copy] : roles.copies) {
      const loops::Store& store = *copy.box.store;
      roots.push_back(store.value);
      roots.insert(roots.end(), store.indices.begin(), store.indices.end());
    }
    return std::ranges::all_of(loops::NodesUnder(nest_.pool, roots),
                               is_there) &&
           std::ranges::none_of(workgroup_.storage,
                                [](const BufferStorage& storage) {
                                  return storage.kind == StorageKind::kSlices;
                                });
  }

  // Makes the kernel persistent if that is possible and pays. The producer may
  // then fill slots for the next task while the others finish this one, so
  // nothing else may share the rings' memory. Where some tasks take longer than
  // others and workgroups would have unequal numbers of them, the device's own
  // distribution is better than a fixed order.
  void GoOnToTasks() {
    if (device_.processors == 0) return;
    for (const WarpRoles::Ring& ring : order_.roles->rings) {
      for (const uint32_t buffer : ring.buffers) {
        for (size_t i = 0; i < workgroup_.storage.size(); ++i) {
          if (i != buffer && memory_.ranges[i].Overlaps(memory_.ranges[buffer]))
            return;
        }
      }
    }
    // Bytes of a processor's memory that each workgroup costs in addition to
    // its own (CUDA, since 8.0).
    constexpr int64_t kReservedBytes = 1024;
    const int64_t blocks = (device_.shared_bytes + kReservedBytes) /
                           (workgroup_.shared_bytes + kReservedBytes);
    const int64_t workgroups =
        device_.processors * std::max<int64_t>(blocks, 1);
    const NodeId iterations =
        loops::ExtentOf(nest_.pool, order_.roles->loop->variable);
    if (!tensor::DependsOn(nest_.pool, iterations, phase_.task) ||
        HaveEqualShares(nest_.pool, iterations, phase_.task, workgroups)) {
      workgroup_.most_workgroups = workgroups;
    }
  }

  const loops::LoopNest& nest_;
  const loops::Phase& phase_;
  const DeviceTraits& device_;
  Workgroup& workgroup_;
  PhaseOrder order_;
  SharedMemory memory_;
  std::vector<loops::Panels> panels_;  // panels of each buffer
  Barriers barriers_;
};

}  // namespace

std::unordered_set<const loops::Statement*> BarriersOfBuffersApart(
    const loops::LoopNest& nest, const loops::Block& body,
    const DeviceTraits& device, const Workgroup& workgroup) {
  SharedMemory memory;
  memory.has_parts = workgroup.parts > 0;
  for (const BufferStorage& storage : workgroup.storage)
    memory.is_of_many.push_back(IsOfMany(storage));
  if (device.copies_boxes) FindCopies(body, memory.of_others);
  return PlanBarriers(nest, body, memory).before;
}

PhaseOrder OrderPhase(const loops::LoopNest& nest, const loops::Phase& phase,
                      const DeviceTraits& device, Workgroup& workgroup) {
  if (workgroup.mode != Workgroup::Mode::kInvocations) return {};
  return OrderPlanner(nest, phase, device, workgroup).Run();
}

}  // namespace ember::jit::gpu
