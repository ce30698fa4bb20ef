// Converts the values of a stage for one place of the nest: axes become loop
// variables, buffers become the regions of them that are stored there,
// functions that machines lack are expanded, and indices that come from data
// get checks. Internal to lowering.
#ifndef EMBER_JIT_SCHEDULE_LOWERING_STAGE_VALUES_H_
#define EMBER_JIT_SCHEDULE_LOWERING_STAGE_VALUES_H_

#include <optional>
#include <span>
#include <vector>

#include "jit/loops/loop_nest.h"
#include "jit/schedule/core/facts.h"
#include "jit/schedule/core/stage_loops.h"

namespace ember::schedule {

// The region that is kept of a buffer that is computed inside a loop.
struct RegionStorage {
  std::vector<NodeId> bases;  // for each dim: begin of the region
  // The first index of the stored region, if each invocation of a surrounding
  // loop has a region of its own.
  std::optional<NodeId> invocation;
};

// Reduces the stage's temporaries to the regions, makes them memory of a task,
// and records that in `storage`. invocation: variable of the surrounding
// invocation loop, if there is one; each of its values has its own region.
void KeepRegions(const Computation& computation, int stage,
                 std::span<const AxisRegion> regions,
                 std::optional<NodeId> invocation, loops::LoopNest& nest,
                 std::vector<std::optional<RegionStorage>>& storage);

class StageValues {
 public:
  // storage: for each buffer, set if only a region of the buffer is kept.
  // may_overrun: the loops may be beyond the axes' ends, at points whose values
  // are not used; loads then read another element that exists.
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
  // Returns the results of one step of a fold.
  std::vector<NodeId> ConvertFold(std::span<const NodeId> results,
                                  std::span<const NodeId> accumulators,
                                  std::span<const NodeId> elements);
  std::vector<NodeId> StoreIndices(const ComputationStore& store);
  // Emits the checks that the values converted so far need.
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
