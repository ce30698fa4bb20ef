// What products of matrices (multiply_matrices) ask of the memory around them.
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

// Matrices are stored whole: of a stage of which only regions are kept, those
// get room for the last ones. regions: per axis.
void FillMatrices(const StagePlan& plan, std::vector<AxisRegion>& regions,
                  tensor::ExpressionPool& pool);

// Makes a buffer of results in progress the matrices that subgroups hold.
// kFailedPrecondition where they have no room; stage: for that.
Status HoldInMatrices(std::string_view stage, uint32_t buffer,
                      loops::LoopNest& nest);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_LOWERING_MATRIX_REGIONS_H_
