// Packs constants that subgroups multiply as matrices, once, so that steps of
// the sum are contiguous.
//
//   %y[i, j] = sum(k < 256) i32(%a[i, k]) * i32(%b[k, j])
//
//   %b.packed   [j, k]: ldmatrix and wgmma, which do not transpose bytes, can
//               read it; lanes would have to load each byte of %b separately
//
// Internal to the default schedule.
#ifndef EMBER_JIT_SCHEDULE_GPU_MATRIX_PACKING_H_
#define EMBER_JIT_SCHEDULE_GPU_MATRIX_PACKING_H_

#include <set>

#include "jit/schedule/core/steps.h"
#include "jit/schedule/rules/schedule_writer.h"
#include "jit/target/gpu_model.h"

namespace ember::schedule {

// Packs the product's constants of constant extents whose elements the hardware
// does not transpose (jit::TransposesMatricesOf), each by a scheduled stage of
// its own, which is added to `done`. Other constants stay as they are. steps:
// the axis of the product's sum along which matrices multiply. Not called for
// devices that transpose matrices (GpuModel::transposes_matrices).
void PackConstantsForMatrices(const jit::GpuModel& gpu, const StageRef& product,
                              int steps, std::set<StageRef>& done,
                              ScheduleWriter& writer);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_GPU_MATRIX_PACKING_H_
