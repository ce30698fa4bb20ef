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
  // `buffers`: for each value of the stage, the buffer of the results in
  // progress, one per point of the loops inside the outermost reduction and per
  // lane of vectorized reductions. `combined`: the buffers of the results of
  // all lanes together (the same buffers if there are no lanes). The first
  // index is the invocation, if there are bound loops inside or around the
  // reductions. If a reduction is bound, `combined` are the results of all
  // invocations together. If the stage stores just these results, they are the
  // buffers that the stage stores to.
  std::vector<uint32_t> buffers;
  std::vector<uint32_t> combined;
  std::vector<NodeId> indices;       // indices of `combined`
  std::vector<NodeId> lane_indices;  // indices of `buffers`
  std::vector<int> spatial;          // positions of the loops of `indices`
  std::vector<int> lanes;            // positions of vectorized reductions
  int bound = -1;                    // position of a bound reduction; -1: none
  bool combines_in_place = false;  // true if `combined` are the stage's results

  // Returns the positions of the loops of `lane_indices`, in their order, with
  // the bound loop first.
  std::vector<int> Points() const;
};

// Makes the buffers for the stage's results in progress. invocation: the
// variable of the bound loop around the stage's reductions.
Accumulators MakeAccumulators(const Computation& computation,
                              const StageLoops& loops,
                              std::optional<NodeId> invocation,
                              loops::LoopNest& nest);

// Sets the buffers' elements at the indices to the combiner's initial values.
loops::Statement InitialStore(const Computation& computation,
                              const ComputationStage& stage,
                              const std::vector<uint32_t>& buffers,
                              const std::vector<NodeId>& indices,
                              loops::LoopNest& nest);

// Returns the operation with which a store updates its element, for any
// combiner but a fold.
tensor::Update UpdateOf(tensor::Combiner combiner);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_LOWERING_ACCUMULATORS_H_
