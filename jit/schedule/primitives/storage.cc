// pad_rows: changes the layout of a stage's results in memory.
#include <string>

#include "jit/loops/walk.h"
#include "jit/schedule/primitives/primitives.h"

namespace ember::schedule {
namespace {

// Largest padding of a row, in elements. It is enough to move rows by a few
// banks, and too little to make them many times as long.
constexpr int64_t kMaxPadding = 64;

}  // namespace

Status Change(const PadRows& step, Schedule& schedule) {
  EMBER_ASSIGN_OR_RETURN(const int stage, Find(schedule, step.stage));
  EMBER_RETURN_IF_ERROR(CheckFactor(step.elements));
  if (step.elements > kMaxPadding) {
    return FailedPreconditionError(
        "expected rows at most " + std::to_string(kMaxPadding) +
        " elements further apart, found " + std::to_string(step.elements));
  }
  const Computation& c = schedule.computation();
  const ComputationStage& computed = c.stages[static_cast<size_t>(stage)];
  StagePlan& plan = schedule.mutable_plan(stage);
  if (plan.attach_stage < 0) {
    return FailedPreconditionError(
        "the stage is not computed in a loop: compute_at it first");
  }
  if (computed.stores.size() != 1 ||
      c.buffers[computed.stores[0].buffer].role != BufferRole::kTemporary) {
    return FailedPreconditionError("%" + computed.name +
                                   " stores more than a temporary");
  }
  if (c.buffers[computed.stores[0].buffer].extents.empty())
    return FailedPreconditionError("%" + computed.name + " has no rows");
  // A stage whose results are read by padded loads is refused: such loads
  // compare their indices with the length of rows, which padding would change.
  const uint32_t buffer = computed.stores[0].buffer;
  for (const ComputationStage& reader : c.stages) {
    for (const NodeId id : loops::NodesUnder(c.pool, RootsOf(reader))) {
      const tensor::Node& node = c.pool[id];
      if (node.opcode != tensor::Opcode::kPad || node.buffer != buffer)
        continue;
      return FailedPreconditionError("%" + computed.name +
                                     " is read beyond its ends");
    }
  }
  if (plan.row_padding != 0)
    return FailedPreconditionError("the stage's rows are padded already");
  plan.row_padding = step.elements;
  return OkStatus();
}

}  // namespace ember::schedule
