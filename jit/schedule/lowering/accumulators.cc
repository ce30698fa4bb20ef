
#include "jit/schedule/lowering/accumulators.h"

#include <optional>
#include <string>
#include <utility>

#include "jit/schedule/core/dependences.h"
#include "jit/schedule/core/rewrite.h"

namespace ember::schedule {
namespace {

using tensor::Combiner;
using tensor::Opcode;
using tensor::Update;

uint32_t AddBuffer(const std::string& name, DType type,
                   const std::vector<NodeId>& indices, loops::LoopNest& nest) {
  loops::Buffer buffer;
  buffer.name = name + "." + std::to_string(nest.buffers.size());
  buffer.type = type;
  buffer.scope = loops::MemoryScope::kTask;
  for (NodeId index : indices)
    buffer.extents.push_back(nest.pool[index].operands[0]);
  nest.buffers.push_back(std::move(buffer));
  return static_cast<uint32_t>(nest.buffers.size()) - 1;
}

NodeId InitialValue(const Computation& computation,
                    const ComputationStage& stage, size_t i, DType type,
                    loops::LoopNest& nest) {
  if (stage.combiner != Combiner::kFold)
    return nest.pool.Constant(NeutralBits(stage.combiner, type), type);
  return Rewriter(computation.pool, nest.pool,
                  [](NodeId) -> std::optional<NodeId> { return std::nullopt; })
      .Rewrite(stage.initial[i]);
}

// True if the stage's results are exactly the sums (or other combined values),
// and the memory of the results can hold them while they are combined. Then no
// separate accumulators are needed.
bool CombinesInPlace(const Computation& computation, int number,
                     const loops::LoopNest& nest) {
  const ComputationStage& stage = computation.stages[number];
  for (size_t i = 0; i < stage.stores.size(); ++i) {
    const ComputationStore& store = stage.stores[i];
    const DType type = computation.pool[stage.values[i]].type;
    bool has_load = false;
    ForEachLoad(computation.pool, store.indices,
                [&](NodeId) { has_load = true; });
    if (has_load || store.update != Update::kAssign ||
        AccumulatorType(stage.combiner, type) != type ||
        nest.buffers[store.buffer].type != type ||
        Reads(computation, number, store.buffer)) {
      return false;
    }
  }
  return true;
}

}  // namespace

std::vector<int> Accumulators::Points() const {
  std::vector<int> points;
  if (bound >= 0) points.push_back(bound);
  points.insert(points.end(), spatial.begin(), spatial.end());
  points.insert(points.end(), lanes.begin(), lanes.end());
  return points;
}

Accumulators MakeAccumulators(const Computation& computation,
                              const StageLoops& s,
                              std::optional<NodeId> invocation,
                              loops::LoopNest& nest) {
  const ComputationStage& stage = computation.stages[s.stage];
  Accumulators a;
  std::vector<NodeId> vectors;
  for (int i = s.FirstReduction(); i < static_cast<int>(s.plan->order.size());
       ++i) {
    const int loop = s.plan->order[i];
    const NodeId variable = s.values[loop];
    const bool moves = nest.pool[variable].opcode == Opcode::kAxis;
    const LoopMark mark = s.plan->loops[loop].mark;
    const bool vector = mark == LoopMark::kVector;
    if (!s.IsReduction(i)) {
      a.spatial.push_back(i);
      if (moves && IsBound(mark))
        invocation = variable;
      else if (moves)
        (vector ? vectors : a.indices).push_back(variable);
    } else if (vector && moves) {
      a.lanes.push_back(i);
    } else if (moves && IsBound(mark)) {
      a.bound = i;
    }
  }
  if (invocation) a.indices.insert(a.indices.begin(), *invocation);
  // The indices of vector loops come last, so that the lanes of a vector are
  // neighbours in a register tile.
  a.indices.insert(a.indices.end(), vectors.begin(), vectors.end());
  a.lane_indices = a.indices;
  for (int lane : a.lanes)
    a.lane_indices.push_back(s.values[s.plan->order[lane]]);
  if (a.bound >= 0) {
    a.lane_indices.insert(a.lane_indices.begin(),
                          s.values[s.plan->order[a.bound]]);
    a.combines_in_place = CombinesInPlace(computation, s.stage, nest);
  }
  const bool apart = !a.lanes.empty() || a.bound >= 0;
  for (size_t i = 0; i < stage.values.size(); ++i) {
    const DType type =
        AccumulatorType(stage.combiner, computation.pool[stage.values[i]].type);
    a.buffers.push_back(
        AddBuffer(stage.name + ".part", type, a.lane_indices, nest));
    if (a.combines_in_place)
      a.combined.push_back(stage.stores[i].buffer);
    else if (apart)
      a.combined.push_back(
          AddBuffer(stage.name + ".all", type, a.indices, nest));
    else
      a.combined.push_back(a.buffers.back());
  }
  return a;
}

loops::Statement InitialStore(const Computation& computation,
                              const ComputationStage& stage,
                              const std::vector<uint32_t>& buffers,
                              const std::vector<NodeId>& indices,
                              loops::LoopNest& nest) {
  loops::Statement statement;
  for (size_t i = 0; i < buffers.size(); ++i) {
    loops::Store store;
    store.buffer = buffers[i];
    store.indices = indices;
    store.value = InitialValue(computation, stage, i,
                               nest.buffers[buffers[i]].type, nest);
    statement.stores.push_back(std::move(store));
  }
  return statement;
}

Update UpdateOf(Combiner combiner) {
  switch (combiner) {
    case Combiner::kProduct:
      return Update::kMultiply;
    case Combiner::kMinimum:
      return Update::kMinimum;
    case Combiner::kMaximum:
      return Update::kMaximum;
    case Combiner::kSum:
    case Combiner::kNone:
    case Combiner::kFold:
      break;
  }
  return Update::kAdd;
}

}  // namespace ember::schedule
