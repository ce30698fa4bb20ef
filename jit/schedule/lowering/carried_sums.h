// Keeps float sums of any length within the bound of tensor/sum_error.h. In
// loops over more terms than one accumulator may add up, the accumulator is
// carried to a total at regular intervals, and starts at 0 again. Internal to
// lowering, which does so under every schedule.
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
// The schedule's loops determine which loops carry: each loop whose iterations,
// multiplied by those of the combining loops inside it, may be too many. A rule
// that wants no condition in an innermost loop splits that loop (sum_rule.h),
// so that an outer one carries in each iteration.
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

// Statements that keep a long float sum exact enough, and the loops in which
// they belong. Each statement works on the accumulator and the total of one
// result. Empty if each accumulator adds up few terms.
struct CarriedSums {
  // A loop in which accumulators are carried to their totals at the start of
  // some iterations.
  struct CarryLoop {
    int position = 0;  // position of the loop in the order of the stage's loops
    // The conditions under which an iteration of this loop begins by carrying;
    // all of them must hold.
    std::vector<NodeId> conditions;
  };
  std::vector<CarryLoop> loops;
  std::vector<int> points;  // positions of the spatial loops that iterate over
                            // the accumulators
  // Conditions around `clear` and `finish`: true if anything is carried. Empty
  // if that is known when compiling.
  std::vector<NodeId> conditions;
  loops::Block clear;   // statements before the stage's reduction, which set
                        // the totals to 0
  loops::Block carry;   // statements that carry an accumulator to its total
  loops::Block finish;  // statements after the reduction, which add the total
                        // to the accumulator
  // Numbers of the buffers of totals. On CPUs these stay in memory, so that all
  // registers are left to accumulators.
  std::vector<uint32_t> buffers;
};

CarriedSums CarrySums(const Computation& computation, const StageLoops& loops,
                      const Accumulators& accumulators, loops::LoopNest& nest);

// Checks that a float sum can keep the error bound of tensor/sum_error.h.
// Returns kFailedPrecondition if it cannot. Accumulators of matrices are not
// carried, so they may add up at most tensor::kMaxMatrixTerms terms. The parts
// of invocations are added up in one more sum, which is not carried either; it
// may have more terms than any device has invocations.
Status CheckSum(const Computation& computation, const StageLoops& loops,
                const Accumulators& accumulators, const loops::LoopNest& nest);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_LOWERING_CARRIED_SUMS_H_
