#include "jit/gpu/mark_combining.h"

#include <vector>

#include "jit/gpu/register_class.h"
#include "jit/loops/analysis/combining.h"

namespace ember::jit::gpu {

using loops::Combining;

namespace {

void Mark(const DeviceTraits& device, const loops::LoopNest& nest,
          loops::Block& block) {
  for (loops::Statement& statement : block) {
    Mark(device, nest, statement.body);
    if (!loops::IsCombining(nest.pool, statement)) continue;
    for (loops::Store& store : statement.body[0].stores) {
      const DType type = nest.buffers[store.buffer].type;
      store.combining = CombinesBySubgroups(type, store.update, device)
                            ? Combining::kBySubgroups
                            : Combining::kByHalves;
    }
  }
}

}  // namespace

Status MarkCombining(const DeviceTraits& device, loops::LoopNest& nest) {
  for (std::vector<loops::Phase>* const phases :
       {&nest.prologue, &nest.phases}) {
    for (loops::Phase& phase : *phases) Mark(device, nest, phase.body);
  }
  return OkStatus();
}

}  // namespace ember::jit::gpu
