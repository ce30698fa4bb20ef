#include "jit/gpu/insert_barriers.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/check.h"
#include "jit/gpu/phase_order.h"
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

bool StaysInFlight(const PhaseOrder& order, const Statement& statement) {
  return std::ranges::find(order.in_flight, &statement,
                           &ProductsInFlight::products) !=
         order.in_flight.end();
}

void MarkProducts(const PhaseOrder& order, Block& block) {
  for (Statement& statement : block) {
    statement.stays_in_flight = StaysInFlight(order, statement);
    MarkProducts(order, statement.body);
  }
}

// Statements are known by their addresses, so a statement is moved only after
// its body is complete.
void Insert(const PhaseOrder& order, Block& block) {
  Block result;
  for (Statement& statement : block) {
    if (order.before.contains(&statement))
      result.push_back(Barrier(order.ordering.contains(&statement)));
    Insert(order, statement.body);
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
  EMBER_CHECK(loops::IsPlaced(nest)) << "the buffers of @" << nest.name;
  const auto has_barrier = [](const loops::Phase& phase) {
    return loops::HasBarrier(phase.body);
  };
  const bool has_barriers = std::ranges::any_of(nest.prologue, has_barrier) ||
                            std::ranges::any_of(nest.phases, has_barrier);
  for (std::vector<loops::Phase>* const phases :
       {&nest.prologue, &nest.phases}) {
    for (loops::Phase& phase : *phases) {
      loops::Workgroup workgroup = phase.workgroup;
      const PhaseOrder order = OrderPhase(nest, phase, device, workgroup);
      phase.workgroup = std::move(workgroup);
      MarkProducts(order, phase.body);
      if (has_barriers) continue;
      Insert(order, phase.body);
      if (order.at_end) phase.body.push_back(Barrier(/*orders_stores=*/false));
    }
  }
  return OkStatus();
}

}  // namespace ember::jit::gpu
