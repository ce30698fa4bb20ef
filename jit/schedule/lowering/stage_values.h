// Converts the expressions of a stage for one place in the nest: axes become
// expressions over loop variables, indices of a buffer become indices of the
// region that is stored there, functions that processors lack are expanded, and
// loaded indices get checks. Internal to lowering.
#ifndef EMBER_JIT_SCHEDULE_LOWERING_STAGE_VALUES_H_
#define EMBER_JIT_SCHEDULE_LOWERING_STAGE_VALUES_H_

#include <optional>
#include <span>
#include <vector>

#include "jit/loops/loop_nest.h"
#include "jit/schedule/core/facts.h"
#include "jit/schedule/core/stage_loops.h"

namespace ember::schedule {

// The region that the nest keeps of a buffer, because the buffer is computed in
// a loop of another stage.
struct RegionStorage {
  std::vector<NodeId> bases;  // for each dim: first element of the region
  // The first index of the stored region, if each invocation of a surrounding
  // loop has a region of its own; otherwise nullopt.
  std::optional<NodeId> invocation;
};

// Reduces the stage's temporaries in the nest to the regions, makes them memory
// of a task, and sets their entries in `storage`. invocation: variable of the
// surrounding invocation loop, each iteration of which has a region of its own;
// nullopt if there is none.
void KeepRegions(const Computation& computation, int stage,
                 std::span<const AxisRegion> regions,
                 std::optional<NodeId> invocation, loops::LoopNest& nest,
                 std::vector<std::optional<RegionStorage>>& storage);

class StageValues {
 public:
  // storage: for each buffer, set if only a region of it is kept. may_overrun:
  // true if the loops may run beyond the ends of axes, at points whose values
  // are not used. Loads then read an element that exists instead.
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
  // Returns the new state of a fold after one element. accumulators: the state
  // before. elements: the values of the element.
  std::vector<NodeId> ConvertFold(std::span<const NodeId> results,
                                  std::span<const NodeId> accumulators,
                                  std::span<const NodeId> elements);
  std::vector<NodeId> StoreIndices(const ComputationStore& store);
  // Emits the checks of indices that the values and store indices converted so
  // far need.
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
