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

// Statements that each work on one result in progress, and the positions of the
// loops in which they belong. Empty if each accumulator adds up few terms.
struct CarriedSums {
  // A loop that carries before some of its iterations.
  struct CarryLoop {
    int position = 0;  // position of the loop in the order
    // The loop carries in iterations in which all of these conditions hold.
    std::vector<NodeId> conditions;
  };
  std::vector<CarryLoop> loops;
  std::vector<int> points;  // positions of the loops over results in progress
  // Conditions around `clear` and `finish`, if it is not known before the run
  // whether anything is carried.
  std::vector<NodeId> conditions;
  loops::Block clear;   // statements before the stage's reduction
  loops::Block carry;   // statements before the iterations that carry
  loops::Block finish;  // statements after the reduction
  // Numbers of the buffers that hold totals. On CPUs they stay in memory, so
  // that the accumulators have all registers.
  std::vector<uint32_t> buffers;
};

CarriedSums CarrySums(const Computation& computation, const StageLoops& loops,
                      const Accumulators& accumulators, loops::LoopNest& nest);

// Checks that a float sum can keep its error bound. Returns kFailedPrecondition
// if it cannot. Accumulators of matrices are not carried and may add up at most
// tensor::kMaxMatrixTerms terms. The sum over invocations is one sum again, of
// more terms than any device has invocations.
Status CheckSum(const Computation& computation, const StageLoops& loops,
                const Accumulators& accumulators, const loops::LoopNest& nest);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_LOWERING_CARRIED_SUMS_H_
