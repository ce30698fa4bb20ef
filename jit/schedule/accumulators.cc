#include "jit/schedule/accumulators.h"

#include <optional>
#include <string>
#include <utility>

#include "jit/schedule/rewrite.h"

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
  buffer.scope = loops::Scope::kTask;
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

}  // namespace

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
      if (moves && mark == LoopMark::kInvocation)
        invocation = variable;
      else if (moves)
        (vector ? vectors : a.indices).push_back(variable);
    } else if (vector && moves) {
      a.lanes.push_back(i);
    }
  }
  if (invocation) a.indices.insert(a.indices.begin(), *invocation);
  // Lanes last: rows of a register tile.
  a.indices.insert(a.indices.end(), vectors.begin(), vectors.end());
  a.lane_indices = a.indices;
  for (int lane : a.lanes)
    a.lane_indices.push_back(s.values[s.plan->order[lane]]);
  for (NodeId value : stage.values) {
    const DType type =
        AccumulatorType(stage.combiner, computation.pool[value].type);
    a.buffers.push_back(
        AddBuffer(stage.name + ".part", type, a.lane_indices, nest));
    a.combined.push_back(a.lanes.empty() ? a.buffers.back()
                                         : AddBuffer(stage.name + ".all", type,
                                                     a.indices, nest));
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
    loops::Target target;
    target.buffer = buffers[i];
    target.indices = indices;
    target.value = InitialValue(computation, stage, i,
                                nest.buffers[buffers[i]].type, nest);
    statement.targets.push_back(std::move(target));
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
