// Products of which both factors lie along the sum, as x times the transposed w
// that a run brings:
//
//   %y[i, j] = sum(k < 2048) %x[i, k] * %w[j, k]
//
// Vectors along j would need a copy of %w in another order, in each call, and
// be empty for the most part where there are few j. Where that costs more than
// it saves, lanes run along k, for a tile of results at once, each with a
// vector of sums that is added up at the end.
#ifndef EMBER_JIT_SCHEDULE_CPU_SUM_LANES_RULE_H_
#define EMBER_JIT_SCHEDULE_CPU_SUM_LANES_RULE_H_

#include <string>

#include "jit/schedule/rules/schedule_writer.h"
#include "jit/schedule/rules/stage_groups.h"
#include "jit/target/cpu_model.h"

namespace ember::schedule {

// A product with its elementwise stages behind it, on a tile of results. False,
// and nothing is changed, where the rule does not apply.
bool ScheduleSumLanes(const jit::CpuModel& cpu, const StageGroup& group,
                      const std::string& product, ScheduleWriter& writer);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_CPU_SUM_LANES_RULE_H_
