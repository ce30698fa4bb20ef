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

// Enlarges the regions that are kept of a stage so that the last matrices fit,
// because matrices are stored whole. regions: per axis.
void FillMatrices(const StagePlan& plan, std::vector<AxisRegion>& regions,
                  tensor::ExpressionPool& pool);

// Makes a buffer of results in progress the accumulators of matrix
// instructions, which subgroups hold. Returns kFailedPrecondition if the
// accumulators need more registers than there are. stage: the stage's name, for
// the error message.
Status HoldInMatrices(std::string_view stage, uint32_t buffer,
                      loops::LoopNest& nest);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_LOWERING_MATRIX_REGIONS_H_
