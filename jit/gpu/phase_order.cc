#include "jit/gpu/phase_order.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "base/rounding.h"
#include "jit/gpu/barriers.h"
#include "jit/gpu/ordering_barriers.h"
#include "jit/gpu/products_in_flight.h"
#include "jit/gpu/rings.h"
#include "jit/gpu/task_shares.h"
#include "jit/gpu/warp_roles.h"
#include "jit/loops/walk.h"
#include "tensor/builder/coefficient.h"

namespace ember::jit::gpu {

using loops::NodeId;

namespace {

bool IsOfMany(const PhasePlan::BufferStorage& storage) {
  return storage.kind == PhasePlan::Kind::kMemory ||
         storage.kind == PhasePlan::Kind::kSlices ||
         storage.kind == PhasePlan::Kind::kShared;
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
               const DeviceTraits& device, PhasePlan& plan)
      : nest_(nest), phase_(phase), device_(device), plan_(plan) {}

  PhaseBarriers Run() {
    NoteMemory();
    barriers_ = PlanBarriers(nest_, phase_.body, memory_);
    LetProductsGoOn();
    GiveRoles();
    for (size_t i = 0; i < plan_.places.size(); ++i) {
      const bool is_shared = plan_.places[i].kind == PhasePlan::Kind::kShared;
      plan_.places[i].is_coherent = barriers_.is_coherent[i] && !is_shared;
      plan_.places[i].is_ordered = barriers_.is_ordered[i] && !is_shared;
    }
    PhaseBarriers result;
    result.before = std::move(barriers_.before);
    result.ordering =
        FindOrderingBarriers(phase_.body, result.before, memory_.has_panels);
    result.at_end = plan_.HasProducerWarp() && plan_.most_workgroups != 0 &&
                    (plan_.parts > 1 || !result.before.empty());
    return result;
  }

 private:
  void NoteMemory() {
    memory_.has_parts = plan_.parts > 0;
    for (const PhasePlan::BufferStorage& storage : plan_.places) {
      if (device_.keeps_elements) {
        const bool is_shared = storage.kind == PhasePlan::Kind::kShared;
        const int64_t begin = storage.shared_offset;
        memory_.ranges.push_back(
            is_shared ? MemoryRange{begin, begin + storage.shared_size}
                      : MemoryRange{});
      }
      memory_.is_of_many.push_back(IsOfMany(storage));
      memory_.has_panels.push_back(storage.panels.Any());
      panels_.push_back(storage.panels);
    }
  }

  // Lets products stay in flight in the next iteration, where that takes no
  // more barriers.
  void LetProductsGoOn() {
    if (!plan_.HasPanels()) return;
    plan_.in_flight = FindProductsInFlight(
        nest_, phase_.body, memory_, plan_.invocations / device_.subgroup_size);
    if (plan_.in_flight.empty()) return;
    for (const ProductsInFlight& each : plan_.in_flight)
      memory_.in_flight.insert(each.products);
    Barriers others = PlanBarriers(nest_, phase_.body, memory_);
    if (others.before.size() > barriers_.before.size())
      plan_.in_flight.clear();
    else
      barriers_ = std::move(others);
  }

  // Specialises warps where the device copies boxes. Phases with checks are
  // left out: an invocation that fails a check would leave the producer
  // waiting.
  void GiveRoles() {
    if (!device_.copies_boxes || plan_.has_checks || !plan_.HasPanels()) return;
    const std::vector<ProductsInFlight> product_loops = FindProductLoops(
        nest_, phase_.body, memory_, plan_.invocations / device_.subgroup_size);
    std::optional<WarpRoles> roles =
        FindWarpRoles(nest_, phase_.body, product_loops, memory_, panels_);
    const bool has_room =
        plan_.invocations + device_.subgroup_size <= device_.invocations;
    if (!roles || !ProducerHasAll(*roles) || (roles->GoesOn() && !has_room))
      return;
    const int64_t begin = RoundUp(plan_.shared_bytes, kCopyBarrierBytes);
    const int64_t end = begin + roles->BarrierCount() * kCopyBarrierBytes;
    if (end > device_.shared_bytes) return;
    plan_.shared_bytes = end;
    plan_.copy_barriers = begin;
    plan_.in_flight.clear();
    memory_.in_flight.clear();
    memory_.of_others = roles->of_producer;
    for (const WarpRoles::Ring& ring : roles->rings) {
      // Copies of boxes use the same proxy as products, so their buffers need
      // no fence.
      for (const uint32_t buffer : ring.buffers)
        memory_.has_panels[buffer] = false;
      if (!ring.goes_on || !memory_.in_flight.insert(ring.readers[0]).second)
        continue;
      plan_.in_flight.push_back({roles->loop, ring.readers[0]});
    }
    barriers_ = PlanBarriers(nest_, phase_.body, memory_);
    roles->has_warp =
        roles->GoesOn() || (has_room && !HasBarriers(roles->loop->body));
    plan_.roles = std::move(roles);
    if (plan_.roles->has_warp) GoOnToTasks();
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
      const PhasePlan::BufferStorage& storage = plan_.places[node.buffer];
      return storage.kind == PhasePlan::Kind::kMemory && !storage.is_written;
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
           std::ranges::none_of(plan_.places,
                                [](const PhasePlan::BufferStorage& p) {
                                  return p.kind == PhasePlan::Kind::kSlices;
                                });
  }

  // Makes the kernel persistent if that is possible and pays. The producer may
  // then fill slots for the next task while the others finish this one, so
  // nothing else may share the rings' memory. Where some tasks take longer than
  // others and workgroups would have unequal numbers of them, the device's own
  // distribution is better than a fixed order.
  void GoOnToTasks() {
    if (device_.processors == 0) return;
    for (const WarpRoles::Ring& ring : plan_.roles->rings) {
      for (const uint32_t buffer : ring.buffers) {
        for (size_t i = 0; i < plan_.places.size(); ++i) {
          if (i != buffer && memory_.ranges[i].Overlaps(memory_.ranges[buffer]))
            return;
        }
      }
    }
    // Bytes of a processor's memory that each workgroup costs in addition to
    // its own (CUDA, since 8.0).
    constexpr int64_t kReservedBytes = 1024;
    const int64_t blocks = (device_.shared_bytes + kReservedBytes) /
                           (plan_.shared_bytes + kReservedBytes);
    const int64_t workgroups =
        device_.processors * std::max<int64_t>(blocks, 1);
    const NodeId iterations =
        loops::ExtentOf(nest_.pool, plan_.roles->loop->variable);
    if (!tensor::DependsOn(nest_.pool, iterations, phase_.task) ||
        HaveEqualShares(nest_.pool, iterations, phase_.task, workgroups)) {
      plan_.most_workgroups = workgroups;
    }
  }

  const loops::LoopNest& nest_;
  const loops::Phase& phase_;
  const DeviceTraits& device_;
  PhasePlan& plan_;
  SharedMemory memory_;
  std::vector<SharedPanels> panels_;  // panels of each buffer
  Barriers barriers_;
};

}  // namespace

std::unordered_set<const loops::Statement*> BarriersOfBuffersApart(
    const loops::LoopNest& nest, const loops::Block& body,
    const DeviceTraits& device, const PhasePlan& plan) {
  SharedMemory memory;
  memory.has_parts = plan.parts > 0;
  for (const PhasePlan::BufferStorage& storage : plan.places)
    memory.is_of_many.push_back(IsOfMany(storage));
  if (device.copies_boxes) FindCopies(body, memory.of_others);
  return PlanBarriers(nest, body, memory).before;
}

PhaseBarriers PlanOrder(const loops::LoopNest& nest, const loops::Phase& phase,
                        const DeviceTraits& device, PhasePlan& plan) {
  return OrderPlanner(nest, phase, device, plan).Run();
}

}  // namespace ember::jit::gpu
