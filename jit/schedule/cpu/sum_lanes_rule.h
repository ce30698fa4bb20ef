// Schedules products whose factors are both contiguous along the sum, like x
// times the transpose of a w that is no constant:
//
//   %y[i, j] = sum(k < 2048) %x[i, k] * %w[j, k]
//
// Vectors along j would need a copy of %w in another order in each call, and
// with few values of j they would be mostly empty. If that costs more than it
// saves, lanes run along k, for several results at once. Each result has a
// vector of sums, whose lanes are added up at the end.
#ifndef EMBER_JIT_SCHEDULE_CPU_SUM_LANES_RULE_H_
#define EMBER_JIT_SCHEDULE_CPU_SUM_LANES_RULE_H_

#include "jit/schedule/core/steps.h"
#include "jit/schedule/rules/schedule_writer.h"
#include "jit/schedule/rules/stage_groups.h"
#include "jit/target/cpu_model.h"

namespace ember::schedule {

// Schedules a product and the elementwise stages after it on a tile of results.
// Returns false, and changes nothing, if the rule does not apply.
bool ScheduleSumLanes(const jit::CpuModel& cpu, const StageGroup& group,
                      const StageRef& product, ScheduleWriter& writer);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_CPU_SUM_LANES_RULE_H_
