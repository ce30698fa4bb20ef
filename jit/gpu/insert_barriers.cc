#include "jit/gpu/insert_barriers.h"

#include <utility>
#include <vector>

#include "jit/gpu/phase_plan.h"
#include "jit/loops/walk.h"

namespace ember::jit::gpu {

using loops::Block;
using loops::LoopKind;
using loops::Statement;

namespace {

Statement Barrier(bool orders_stores) {
  Statement barrier;
  barrier.kind = Statement::Kind::kBarrier;
  barrier.orders_stores = orders_stores;
  return barrier;
}

// Statements are known by their addresses, so a statement is moved only after
// its body is complete.
void Insert(const PhaseBarriers& barriers, Block& block) {
  Block result;
  for (Statement& statement : block) {
    if (barriers.before.contains(&statement))
      result.push_back(Barrier(barriers.ordering.contains(&statement)));
    Insert(barriers, statement.body);
    const bool is_dot = statement.kind == Statement::Kind::kFor &&
                        statement.loop == LoopKind::kDot;
    if (is_dot && loops::HasBarrier(statement.body))
      statement.loop = LoopKind::kUnrolled;
    result.push_back(std::move(statement));
  }
  block = std::move(result);
}

}  // namespace

Status InsertBarriers(const DeviceTraits& device, loops::LoopNest& nest) {
  if (loops::IsDeviceNest(nest)) return OkStatus();
  for (std::vector<loops::Phase>* const phases :
       {&nest.prologue, &nest.phases}) {
    for (loops::Phase& phase : *phases) {
      EMBER_ASSIGN_OR_RETURN(const PhaseBarriers barriers,
                             FindPhaseBarriers(nest, phase, device));
      Insert(barriers, phase.body);
      if (barriers.at_end)
        phase.body.push_back(Barrier(/*orders_stores=*/false));
    }
  }
  return OkStatus();
}

}  // namespace ember::jit::gpu
