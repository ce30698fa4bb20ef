// Splits long sums so that their innermost loops need no conditions.
#ifndef EMBER_JIT_SCHEDULE_RULES_SUM_RULE_H_
#define EMBER_JIT_SCHEDULE_RULES_SUM_RULE_H_

#include "jit/schedule/rules/schedule_writer.h"

namespace ember::schedule {

// Splits the innermost loops of all stages with long sums. This rule runs after
// all other rules.
//
// A stage that adds up more terms than an accumulator takes carries them to
// totals at regular intervals (carried_sums.h), under every schedule. This rule
// splits loops of constant extents with a short body, so that an outer loop
// carries in each iteration:
//
//   for k < 2048 { ... }   ->   for k_sums < 2 { for k_terms < 1024 { ... } }
void SplitLongSums(ScheduleWriter& writer);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_RULES_SUM_RULE_H_
