// Helpers for stages that multiply matrices (multiply_matrices): the size of
// the regions that they store to, and the scope of their accumulators. Internal
// to lowering.
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

// Extends the regions that a stage stores to whole matrices, because the last
// matrix of a row or column is stored whole. regions: one per axis.
void FillMatrices(const StagePlan& plan, std::vector<AxisRegion>& regions,
                  tensor::ExpressionPool& pool);

// Makes the buffer, which holds results in progress, the accumulators of matrix
// instructions, in the registers of subgroups. Returns kFailedPrecondition if
// their number is not constant, or if they need more registers than there are.
// stage: name of the stage, for the message.
Status HoldInMatrices(std::string_view stage, uint32_t buffer,
                      loops::LoopNest& nest);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_LOWERING_MATRIX_REGIONS_H_
