// The values of a stage at one place of the nest: axes become loop variables,
// buffers their storage there, functions that machines lack become expressions,
// and indices that come from data are checked. Internal to lowering.
#ifndef EMBER_JIT_SCHEDULE_LOWERING_STAGE_VALUES_H_
#define EMBER_JIT_SCHEDULE_LOWERING_STAGE_VALUES_H_

#include <optional>
#include <span>
#include <vector>

#include "jit/loops/loop_nest.h"
#include "jit/schedule/core/facts.h"
#include "jit/schedule/core/stage_loops.h"

namespace ember::schedule {

// What is kept of a buffer that is computed inside a loop.
struct RegionStorage {
  std::vector<NodeId> bases;  // per dim: where the region begins
  // The first index, where each invocation of a loop around has its own.
  std::optional<NodeId> invocation;
};

// Makes the stage's temporaries as large as the regions, memory of a task, and
// notes that in `storage`. invocation: of the loop around, if any, of whose
// values each has its own.
void KeepRegions(const Computation& computation, int stage,
                 std::span<const AxisRegion> regions,
                 std::optional<NodeId> invocation, loops::LoopNest& nest,
                 std::vector<std::optional<RegionStorage>>& storage);

class StageValues {
 public:
  // storage: per buffer, where not all of it is kept. may_overrun: the loops
  // may be beyond the axes' ends, at points whose values nobody uses; loads
  // then read something else that exists.
  StageValues(const Computation& computation, const StageLoops& loops,
              const std::vector<std::optional<RegionStorage>>& storage,
              const Facts& facts, bool may_overrun, loops::LoopNest& nest)
      : c_(computation),
        s_(loops),
        storage_(storage),
        facts_(facts),
        may_overrun_(may_overrun),
        nest_(nest) {}

  std::vector<NodeId> Convert(std::span<const NodeId> values);
  // The results of a fold's step.
  std::vector<NodeId> ConvertFold(std::span<const NodeId> results,
                                  std::span<const NodeId> accumulators,
                                  std::span<const NodeId> elements);
  std::vector<NodeId> StoreIndices(const ComputationStore& store);
  // The checks that what was converted so far needs.
  void EmitChecks(loops::Block& out);

 private:
  std::optional<NodeId> ReplaceAxis(NodeId id) const;
  std::optional<NodeId> Rebuild(NodeId id, std::span<const NodeId> operands);
  NodeId MakeLoad(NodeId id, std::vector<NodeId> operands);
  NodeId Clamped(NodeId index, NodeId extent);
  bool DependsOnLane(NodeId index) const;
  void Check(uint32_t buffer, uint32_t dim, NodeId index, NodeId extent);

  const Computation& c_;
  const StageLoops& s_;
  const std::vector<std::optional<RegionStorage>>& storage_;
  const Facts& facts_;
  bool may_overrun_;
  loops::LoopNest& nest_;
  std::vector<loops::Statement> checks_;
};

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_LOWERING_STAGE_VALUES_H_
