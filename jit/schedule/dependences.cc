#include "jit/schedule/dependences.h"

#include <algorithm>
#include <optional>

#include "tensor/linear.h"
#include "tensor/simplify.h"

namespace ember::schedule {
namespace {

using tensor::ExpressionPool;
using tensor::LinearSum;
using tensor::Opcode;

// The only axis of `index` = a * axis + b, or nothing.
std::optional<NodeId> OnlyAxis(const ExpressionPool& pool, NodeId index) {
  const std::optional<LinearSum> sum = tensor::Linearize(pool, index);
  if (!sum || sum->terms.size() != 1) return std::nullopt;
  const tensor::LinearTerm& term = sum->terms.front();
  if (pool[term.node].opcode != Opcode::kAxis || term.coefficient == 0)
    return std::nullopt;
  // Else the sum might wrap to one value twice.
  if (tensor::RangeOfLinear(pool, *sum).IsFull()) return std::nullopt;
  return term.node;
}

bool IsUnit(const ExpressionPool& pool, NodeId extent) {
  return pool[extent].range.high <= 1;
}

bool StoreIsDistinct(const Computation& computation,
                     const ComputationStage& stage,
                     const ComputationStore& store) {
  const ExpressionPool& pool = computation.pool;
  for (int a = 0; a < stage.spatial_count; ++a) {
    if (IsUnit(pool, stage.axes[a].extent)) continue;
    const bool found = std::any_of(
        store.indices.begin(), store.indices.end(),
        [&](NodeId i) { return OnlyAxis(pool, i) == stage.axes[a].variable; });
    if (!found) return false;
  }
  return true;
}

}  // namespace

bool StoresAreDistinct(const Computation& computation, int number) {
  const ComputationStage& stage = computation.stages[number];
  return std::all_of(stage.stores.begin(), stage.stores.end(),
                     [&](const ComputationStore& store) {
                       return StoreIsDistinct(computation, stage, store);
                     });
}

bool StoresAreIdentity(const Computation& computation, int number) {
  const ComputationStage& stage = computation.stages[number];
  for (const ComputationStore& store : stage.stores) {
    const ComputationBuffer& buffer = computation.buffers[store.buffer];
    if (store.update != tensor::Update::kAssign ||
        static_cast<int>(store.indices.size()) != stage.spatial_count) {
      return false;
    }
    for (size_t d = 0; d < store.indices.size(); ++d) {
      if (store.indices[d] != stage.axes[d].variable ||
          buffer.extents[d] != stage.axes[d].extent) {
        return false;
      }
    }
  }
  return true;
}

int PositionInside(const Schedule& schedule, int stage, int around) {
  while (true) {
    const StagePlan& plan = schedule.plan(stage);
    if (plan.attach_stage < 0) return -1;
    if (plan.attach_stage == around)
      return schedule.plan(around).PositionOf(plan.attach_loop);
    stage = plan.attach_stage;
  }
}

bool Reads(const Computation& computation, int stage, uint32_t buffer) {
  bool found = false;
  ForEachLoad(
      computation.pool, RootsOf(computation.stages[stage]),
      [&](NodeId load) { found |= computation.pool[load].buffer == buffer; });
  return found;
}

std::vector<int> ConsumersOf(const Computation& computation, int stage) {
  std::vector<int> consumers;
  for (int i = stage + 1; i < static_cast<int>(computation.stages.size());
       ++i) {
    const auto& stores = computation.stages[stage].stores;
    if (std::any_of(stores.begin(), stores.end(), [&](const auto& store) {
          return Reads(computation, i, store.buffer);
        })) {
      consumers.push_back(i);
    }
  }
  return consumers;
}

bool IsSafe(const Computation& computation, NodeId load) {
  const tensor::Node& node = computation.pool[load];
  if (node.opcode == Opcode::kPad) return true;
  const auto& extents = computation.buffers[node.buffer].extents;
  for (size_t d = 0; d < extents.size(); ++d) {
    if (!tensor::ProvablyInBounds(computation.pool, node.operands[d],
                                  extents[d]))
      return false;
  }
  return true;
}

bool AccessesAreSafe(const Computation& computation, int number) {
  const ComputationStage& stage = computation.stages[number];
  bool safe = true;
  ForEachLoad(computation.pool, RootsOf(stage),
              [&](NodeId load) { safe &= IsSafe(computation, load); });
  return safe;
}

Status CheckParallelIsOutermost(const Schedule& schedule, int stage) {
  const StagePlan& plan = schedule.plan(stage);
  for (size_t i = 0; i < plan.order.size(); ++i) {
    const Loop& loop = plan.loops[plan.order[i]];
    if (loop.mark != LoopMark::kParallel) continue;
    if (i != 0) {
      return FailedPreconditionError("parallel loop '" + loop.name +
                                     "' is not the outermost one");
    }
    if (plan.attach_stage >= 0) {
      return FailedPreconditionError(
          "the stage is computed inside another one's loop");
    }
  }
  return OkStatus();
}

Status CheckMark(const Schedule& schedule, int stage, int number) {
  const Loop& loop = schedule.plan(stage).loops[number];
  const ComputationStage& computed = schedule.computation().stages[stage];
  if (loop.mark == LoopMark::kParallel && loop.is_reduction) {
    return FailedPreconditionError("loop '" + loop.name +
                                   "' combines elements into one");
  }
  const bool at_once =
      loop.mark == LoopMark::kParallel || loop.mark == LoopMark::kVector;
  if (at_once && loop.is_reduction &&
      computed.combiner == tensor::Combiner::kFold) {
    return FailedPreconditionError(
        "a fold combines its elements one after another");
  }
  if (at_once && !loop.is_reduction &&
      !StoresAreDistinct(schedule.computation(), stage)) {
    return FailedPreconditionError(
        "points of the stage may store to one element");
  }
  return CheckParallelIsOutermost(schedule, stage);
}

}  // namespace ember::schedule
