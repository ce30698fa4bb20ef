// Long sums without conditions in their innermost loops.
#ifndef EMBER_JIT_SCHEDULE_RULES_SUM_RULE_H_
#define EMBER_JIT_SCHEDULE_RULES_SUM_RULE_H_

#include "jit/schedule/rules/schedule_writer.h"

namespace ember::schedule {

// What sums up more terms than an accumulator takes carries them to totals
// every so often (carried_sums.h), whatever the schedule is. Here loops of
// constant extents with a short body are split so that this is at each turn of
// an outer one:
//
//   for k < 2048 { ... }   ->   for k_sums < 2 { for k_terms < 1024 { ... } }
//
// For all stages, behind the other rules.
void SplitLongSums(ScheduleWriter& writer);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_RULES_SUM_RULE_H_
