#include "jit/gpu/specialise_warps.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/rounding.h"
#include "jit/gpu/barriers.h"
#include "jit/gpu/shared_memory.h"
#include "jit/gpu/task_shares.h"
#include "jit/gpu/warp_roles.h"
#include "jit/loops/walk.h"
#include "jit/loops/workgroup.h"
#include "tensor/builder/coefficient.h"

namespace ember::jit::gpu {

using loops::Block;
using loops::BufferStorage;
using loops::NodeId;
using loops::Statement;
using loops::StorageKind;
using loops::Workgroup;

namespace {

class WarpSpecialiser {
 public:
  WarpSpecialiser(loops::LoopNest& nest, const DeviceTraits& device,
                  loops::Phase& phase)
      : nest_(nest),
        device_(device),
        phase_(phase),
        memory_(SharedMemoryOf(nest, phase.workgroup, device)) {}

  void Run() {
    Workgroup& workgroup = phase_.workgroup;
    std::vector<loops::Panels> panels;
    for (const BufferStorage& storage : workgroup.storage)
      panels.push_back(storage.panels);
    Block body = phase_.body;
    const std::optional<WarpRoles> roles =
        MarkWarpRoles(nest_, workgroup.invocations / device_.subgroup_size,
                      memory_, panels, body);
    const bool has_room =
        workgroup.invocations + device_.subgroup_size <= device_.invocations;
    if (!roles || !ProducerHasAll(body[roles->loop], body) ||
        (roles->GoesOn() && !has_room)) {
      return;
    }
    const int64_t begin =
        RoundUp(workgroup.shared_bytes, loops::kSlotBarrierBytes);
    const int64_t end =
        begin + roles->BarrierCount() * loops::kSlotBarrierBytes;
    if (end > device_.shared_bytes) return;
    workgroup.shared_bytes = end;
    workgroup.slot_barriers = begin;
    for (const WarpRoles::Ring& ring : roles->rings) {
      workgroup.rings.push_back(
          {ring.slots, ring.fill_bytes, ring.subgroups, ring.goes_on});
    }
    phase_.body = std::move(body);
    workgroup.has_producer =
        roles->GoesOn() || (has_room && !HasBarriers(roles->loop));
    if (workgroup.has_producer) GoOnToTasks(*roles);
  }

 private:
  // True if the producer never has to wait for values that other invocations
  // compute, because it reads only memory that the phase does not write. Also
  // false if a buffer is in slices of device memory (StorageKind::kSlices): a
  // workgroup has one slice, which cannot serve the next task while it serves
  // the current one.
  bool ProducerHasAll(const Statement& loop, const Block& body) const {
    const std::vector<BufferStorage>& storages = phase_.workgroup.storage;
    const auto is_there = [&](NodeId id) {
      const tensor::Node& node = nest_.pool[id];
      if (node.opcode != tensor::Opcode::kLoad &&
          node.opcode != tensor::Opcode::kPad) {
        return true;
      }
      const BufferStorage& storage = storages[node.buffer];
      return storage.kind == StorageKind::kMemory && !storage.is_written;
    };
    std::vector<NodeId> roots = {loops::ExtentOf(nest_.pool, loop.variable)};
    AddCopies(body, roots);
    return std::ranges::all_of(loops::NodesUnder(nest_.pool, roots),
                               is_there) &&
           std::ranges::none_of(storages, [](const BufferStorage& storage) {
             return storage.kind == StorageKind::kSlices;
           });
  }

  // Adds the expressions that the stores of box copies contain: their values
  // and indices.
  static void AddCopies(const Block& block, std::vector<NodeId>& roots) {
    for (const Statement& statement : block) {
      if (statement.box == nullptr) {
        AddCopies(statement.body, roots);
        continue;
      }
      const loops::Store& store = *loops::FirstStore(statement);
      roots.push_back(store.value);
      roots.insert(roots.end(), store.indices.begin(), store.indices.end());
    }
  }

  // True if the loop at this position of the body still needs barriers of all
  // invocations.
  bool HasBarriers(size_t loop) const {
    const Block& body = phase_.body;
    const std::vector<bool> before = PlanBarriers(nest_, body, memory_).before;
    const size_t end = loops::CountStatements(std::span(body).first(loop + 1));
    size_t number = end - loops::CountStatements(body[loop].body);
    while (number < end && !before[number]) ++number;
    return number < end;
  }

  // Makes the kernel persistent if possible and faster. Its producer may fill
  // slots for the next task while other warps finish the current one, so no
  // other buffer may share memory with the rings. If tasks differ in length, so
  // that workgroups would get unequal shares, the kernel stays as it is: a
  // device that hands out tasks one by one balances them better.
  void GoOnToTasks(const WarpRoles& roles) {
    Workgroup& workgroup = phase_.workgroup;
    if (device_.processors == 0) return;
    for (const WarpRoles::Ring& ring : roles.rings) {
      for (const uint32_t buffer : ring.buffers) {
        for (size_t i = 0; i < workgroup.storage.size(); ++i) {
          if (i != buffer && memory_.ranges[i].Overlaps(memory_.ranges[buffer]))
            return;
        }
      }
    }
    // Bytes of a processor's shared memory that CUDA (from 8.0 on) reserves for
    // each workgroup, in addition to what the workgroup declares.
    constexpr int64_t kReservedBytes = 1024;
    const int64_t blocks = (device_.shared_bytes + kReservedBytes) /
                           (workgroup.shared_bytes + kReservedBytes);
    const int64_t workgroups =
        device_.processors * std::max<int64_t>(blocks, 1);
    const NodeId iterations =
        loops::ExtentOf(nest_.pool, phase_.body[roles.loop].variable);
    if (!tensor::DependsOn(nest_.pool, iterations, phase_.task) ||
        HaveEqualShares(nest_.pool, iterations, phase_.task, workgroups)) {
      workgroup.most_workgroups = workgroups;
    }
  }

  loops::LoopNest& nest_;
  const DeviceTraits& device_;
  loops::Phase& phase_;
  const SharedMemory memory_;
};

// True if the phase may have a producer, which copies boxes to panels. Phases
// with checks may not: an invocation that fails a check ends, and the producer
// would wait for it forever.
bool MayHaveProducer(const Workgroup& workgroup, const DeviceTraits& device) {
  return device.copies_boxes &&
         workgroup.mode == Workgroup::Mode::kInvocations &&
         !workgroup.has_checks && workgroup.HasPanels() &&
         workgroup.rings.empty();
}

}  // namespace

Status SpecialiseWarps(const DeviceTraits& device, loops::LoopNest& nest) {
  for (std::vector<loops::Phase>* const phases :
       {&nest.prologue, &nest.phases}) {
    for (loops::Phase& phase : *phases) {
      if (MayHaveProducer(phase.workgroup, device))
        WarpSpecialiser(nest, device, phase).Run();
    }
  }
  return OkStatus();
}

}  // namespace ember::jit::gpu
