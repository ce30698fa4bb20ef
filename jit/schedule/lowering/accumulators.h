// The buffers that hold a stage's results while it combines elements. Internal
// to lowering.
#ifndef EMBER_JIT_SCHEDULE_LOWERING_ACCUMULATORS_H_
#define EMBER_JIT_SCHEDULE_LOWERING_ACCUMULATORS_H_

#include <optional>
#include <vector>

#include "jit/loops/loop_nest.h"
#include "jit/schedule/core/stage_loops.h"

namespace ember::schedule {

struct Accumulators {
  // `buffers`: for each value of the stage, the number of the buffer of its
  // results in progress. It has an element for each iteration of the spatial
  // loops inside the outermost reduction, and for each lane of a vectorized
  // reduction. If loops inside or around the reductions are bound, its first
  // index is the invocation. `combined`: for each value, the number of the
  // buffer in which the results of all lanes, and of all invocations if a
  // reduction is bound, are combined. It is the same buffer if there are no
  // lanes, and the stage's result if combines_in_place is true.
  std::vector<uint32_t> buffers;
  std::vector<uint32_t> combined;
  std::vector<NodeId> indices;       // indices of `combined`
  std::vector<NodeId> lane_indices;  // indices of `buffers`
  std::vector<int> spatial;          // positions of the spatial loops whose
                                     // variables `indices` contains
  std::vector<int> lanes;            // positions of the vectorized reduction
                                     // loops
  int bound = -1;                    // position of the bound reduction loop;
                                     // -1: none
  bool combines_in_place = false;    // true if `combined` are the buffers that
                                     // the stage stores to

  // Returns the positions of the loops whose variables lane_indices contains,
  // in the same order: the bound loop first.
  std::vector<int> Points() const;
};

// Makes the buffers of the stage's results in progress. invocation: variable of
// the bound loop around the stage's reductions; nullopt if there is none.
Accumulators MakeAccumulators(const Computation& computation,
                              const StageLoops& loops,
                              std::optional<NodeId> invocation,
                              loops::LoopNest& nest);

// Returns a statement that sets the element at the indices, in each of the
// buffers, to the combiner's initial value.
loops::Statement InitialStore(const Computation& computation,
                              const ComputationStage& stage,
                              const std::vector<uint32_t>& buffers,
                              const std::vector<NodeId>& indices,
                              loops::LoopNest& nest);

// Returns the update of a store that combines a value with its element. The
// combiner must not be a fold, which has no such update.
tensor::Update UpdateOf(tensor::Combiner combiner);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_LOWERING_ACCUMULATORS_H_
