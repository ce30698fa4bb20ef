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
#ifndef EMBER_JIT_SCHEDULE_CARRIED_SUMS_H_
#define EMBER_JIT_SCHEDULE_CARRIED_SUMS_H_

#include <cstdint>
#include <map>
#include <vector>

#include "base/status.h"
#include "jit/loops/loop_nest.h"
#include "jit/schedule/accumulators.h"
#include "jit/schedule/computation.h"
#include "jit/schedule/stage_loops.h"

namespace ember::schedule {

// What stands where, besides the stage's loops; nothing where its accumulators
// take few terms each.
struct CarriedSums {
  loops::Block begin;              // before the stage's reduction
  std::map<int, loops::Block> at;  // first in the loop at the position
  loops::Block end;                // behind the reduction
  // Totals. On CPUs they are to stay in memory, so that registers are left to
  // the accumulators.
  std::vector<uint32_t> buffers;
};

CarriedSums CarrySums(const Computation& computation, const StageLoops& loops,
                      const Accumulators& accumulators, loops::LoopNest& nest);

// What matrices hold is not carried: kFailedPrecondition where such a sum of
// floats is known to have more than tensor::kMostMatrixTerms terms.
Status CheckMatrixSum(const Computation& computation, const StageLoops& loops,
                      const Accumulators& accumulators,
                      const loops::LoopNest& nest);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_CARRIED_SUMS_H_
