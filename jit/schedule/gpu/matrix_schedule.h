// Writes the steps that compute a product as matrices with a given tile
// (matrix_tiles.h). The rules choose the tile, and which of these functions
// applies.
//
//   if (StoreMatrices(gpu, plan, product, writer)) return writer.status();
//
// Slices of the factors are copied as matrix_factors.h says. A step that is
// refused, or an error of the writer, means that the product does not fit the
// tile; the caller then tries another schedule. Internal to the default
// schedule.
#ifndef EMBER_JIT_SCHEDULE_GPU_MATRIX_SCHEDULE_H_
#define EMBER_JIT_SCHEDULE_GPU_MATRIX_SCHEDULE_H_

#include <cstdint>
#include <optional>
#include <set>

#include "jit/schedule/core/steps.h"
#include "jit/schedule/gpu/matrix_tiles.h"
#include "jit/schedule/rules/schedule_writer.h"
#include "jit/target/gpu_model.h"

namespace ember::schedule {

// Schedules a product whose matrices are stored directly to its results.
// Returns the loop over tasks, each of which computes a tile; nullopt if a step
// is refused.
std::optional<LoopRef> StoreMatrices(const jit::GpuModel& gpu,
                                     const MatrixPlan& plan,
                                     const StageRef& product,
                                     ScheduleWriter& writer);

// Schedules a product whose matrices are stored to memory of the workgroup, and
// the root, which reads them from there. Returns the innermost loop of the
// root, in whose body one point is computed; nullopt if a step is refused.
// Scheduled stages are added to `done`.
std::optional<LoopRef> StoreMatricesForRoot(
    const jit::GpuModel& gpu, const MatrixPlan& plan, const StageRef& root,
    const StageRef& product, std::set<StageRef>& done, ScheduleWriter& writer);

// Says where the factors of a product come from that is computed for a tile of
// rows of several stages.
struct RowFactors {
  // Buffers that are in memory of the workgroup already. Of other buffers,
  // slices are copied there.
  std::set<BufferRef> resident;
  // Stages that compute a factor for this product alone. They store each slice
  // of the factor just before the product reads it.
  std::set<StageRef> gathered;
  // Set only for products with a single slice, which is the whole sum: the
  // serial loops around the product in which slices are copied. The slice of
  // the rows' factor is copied in loop `rows`, and that of the columns' factor
  // in loop `columns`, one iteration ahead. If not set, slices are copied in
  // the product's own loop over slices.
  std::optional<LoopRef> rows, columns;
  // number of subgroups of the workgroup, all of which copy slices
  int64_t subgroups = 0;
};

// Schedules the loops of a product that is computed inside another stage's loop
// over tiles of `plan.RowsOfTile()` rows. Tiles of columns are computed one
// after the other, with results in memory of the workgroup. Returns false if
// some primitive is refused.
bool ScheduleMatricesOfRows(const jit::GpuModel& gpu, const MatrixPlan& plan,
                            const StageRef& product, const RowFactors& factors,
                            ScheduleWriter& writer);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_GPU_MATRIX_SCHEDULE_H_
