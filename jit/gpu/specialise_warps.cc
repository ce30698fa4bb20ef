#include "jit/gpu/specialise_warps.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/check.h"
#include "jit/gpu/phase_order.h"
#include "jit/gpu/warp_roles.h"
#include "jit/loops/copied_box.h"

namespace ember::jit::gpu {

using loops::Statement;

namespace {

void MarkReader(const WarpRoles& roles, Statement& statement) {
  for (size_t i = 0; i < roles.rings.size(); ++i) {
    const WarpRoles::Ring& ring = roles.rings[i];
    const loops::SlotUse use = {static_cast<uint32_t>(i), ring.slot};
    if (ring.readers.front() == &statement) statement.awaits.push_back(use);
    if (ring.readers.back() == &statement && !ring.goes_on)
      statement.releases.push_back(use);
  }
}

void Mark(const WarpRoles& roles, loops::Block& block) {
  for (Statement& statement : block) {
    statement.of_producer = roles.of_producer.contains(&statement);
    const auto copy = roles.copies.find(&statement);
    if (copy != roles.copies.end()) {
      auto box = std::make_shared<loops::CopiedBox>(copy->second.box);
      box->ring = static_cast<uint32_t>(copy->second.ring);
      box->begins_fill = copy->second.begins_fill;
      statement.box = std::move(box);
    }
    MarkReader(roles, statement);
    Mark(roles, statement.body);
  }
}

}  // namespace

Status SpecialiseWarps(const DeviceTraits& device, loops::LoopNest& nest) {
  for (std::vector<loops::Phase>* const phases :
       {&nest.prologue, &nest.phases}) {
    for (loops::Phase& phase : *phases) {
      // Only phases with a producer have barriers of slots.
      if (phase.workgroup.slot_barriers == 0 || !phase.workgroup.rings.empty())
        continue;
      loops::Workgroup workgroup = phase.workgroup;
      const PhaseOrder order = OrderPhase(nest, phase, device, workgroup);
      EMBER_CHECK(order.roles) << "barriers of slots without rings";
      for (const WarpRoles::Ring& ring : order.roles->rings) {
        phase.workgroup.rings.push_back(
            {ring.slots, ring.fill_bytes, ring.subgroups, ring.goes_on});
      }
      Mark(*order.roles, phase.body);
    }
  }
  return OkStatus();
}

}  // namespace ember::jit::gpu
