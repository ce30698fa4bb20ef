// Constants that matrices of subgroups multiply, packed once so that steps of
// the sum lie together.
//
//   %y[i, j] = sum(k < 256) i32(%a[i, k]) * i32(%b[k, j])
//
//   %b.packed   [j, k]: ldmatrix and wgmma read it, which transpose no bytes;
//               of %b lanes would load each byte by itself
//
// Internal to the default schedule.
#ifndef EMBER_JIT_SCHEDULE_GPU_GPU_MATRIX_PACKING_H_
#define EMBER_JIT_SCHEDULE_GPU_GPU_MATRIX_PACKING_H_

#include <set>
#include <string>

#include "jit/schedule/rules/schedule_writer.h"
#include "jit/target/gpu_model.h"

namespace ember::schedule {

// Packs the product's constants of constant extents and of elements that the
// hardware does not transpose (jit::TransposesMatricesOf), each by a stage of
// its own, which is scheduled and in `done`. steps: the axis of the product's
// sum along which matrices multiply. What needs no packing stays as it is. Of
// devices that transpose matrices (GpuModel::transposes_matrices) nobody asks.
void PackConstantsForMatrices(const jit::GpuModel& gpu,
                              const std::string& product, int steps,
                              std::set<std::string>& done,
                              ScheduleWriter& writer);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_GPU_GPU_MATRIX_PACKING_H_
