// The memory that products of matrices (multiply_matrices) need around them.
// Internal to lowering.
#ifndef EMBER_JIT_SCHEDULE_LOWERING_MATRIX_REGIONS_H_
#define EMBER_JIT_SCHEDULE_LOWERING_MATRIX_REGIONS_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "jit/loops/loop_nest.h"
#include "jit/schedule/core/schedule.h"
#include "jit/schedule/core/stage_loops.h"

namespace ember::schedule {

// Matrices are stored whole. If only regions of a stage are kept, this enlarges
// them so that the last matrices fit. regions: per axis.
void FillMatrices(const StagePlan& plan, std::vector<AxisRegion>& regions,
                  tensor::ExpressionPool& pool);

// Makes a buffer of results in progress the accumulators that subgroups hold.
// Returns kFailedPrecondition if they have no room; stage: its name, for the
// error.
Status HoldInMatrices(std::string_view stage, uint32_t buffer,
                      loops::LoopNest& nest);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_LOWERING_MATRIX_REGIONS_H_
