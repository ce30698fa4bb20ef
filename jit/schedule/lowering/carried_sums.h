// Float sums of any length within the bound of tensor/sum_error.h: in loops
// over more terms than one accumulator may take, what it has is carried to a
// total every so often, and it starts at 0 again. Internal to lowering, which
// does so under every schedule.
//
//   for k < 1000000 {                  %total[] = 0.0  %rest[] = 0.0
//     %sum[] += %x[k]                  for k < 1000000 {
//   }                                    if k mod 1024 == 0 { if 0 < k {
//                                          { carry %sum to %total, %rest }
//                              ->        } }
//                                        %sum[] += %x[k]
//                                      }
//                                      %sum[] = %total[] + (%sum[] + %rest[])
//
// The loops that carry follow from the schedule's loops alone: each whose
// turns, with those of the loops inside it that combine elements, may be too
// many. A rule that wants no condition in an innermost loop splits that loop
// (sum_rule.h), so that an outer one carries at each turn.
#ifndef EMBER_JIT_SCHEDULE_LOWERING_CARRIED_SUMS_H_
#define EMBER_JIT_SCHEDULE_LOWERING_CARRIED_SUMS_H_

#include <cstdint>
#include <vector>

#include "base/status.h"
#include "jit/loops/loop_nest.h"
#include "jit/schedule/core/computation.h"
#include "jit/schedule/core/stage_loops.h"
#include "jit/schedule/lowering/accumulators.h"

namespace ember::schedule {

// Statements on one result in progress each, to stand in loops over them, and
// where; none where accumulators take few terms each.
struct CarriedSums {
  // A loop that carries before some of its turns.
  struct Turn {
    int position = 0;                // of the loop
    std::vector<NodeId> conditions;  // all hold
  };
  std::vector<Turn> turns;
  std::vector<int> points;  // positions of the loops over results in progress
  // Around clear and finish, where it is open whether anything is carried.
  std::vector<NodeId> conditions;
  loops::Block clear;   // before the stage's reduction
  loops::Block carry;   // at those turns
  loops::Block finish;  // behind the reduction
  // Totals. On CPUs they are to stay in memory, so that registers are left to
  // the accumulators.
  std::vector<uint32_t> buffers;
};

CarriedSums CarrySums(const Computation& computation, const StageLoops& loops,
                      const Accumulators& accumulators, loops::LoopNest& nest);

// kFailedPrecondition where a float sum cannot keep its bound: what matrices
// hold is not carried, and has at most tensor::kMostMatrixTerms terms; and what
// so many invocations have is one sum again, of as many as no device has.
Status CheckSum(const Computation& computation, const StageLoops& loops,
                const Accumulators& accumulators, const loops::LoopNest& nest);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_LOWERING_CARRIED_SUMS_H_
