// Schedules products of f16, bf16, f32 (tf32), i8 and u8 on GPUs as products of
// matrices of subgroups (multiply_matrices), if the device has matrices of
// these types.
//
//   %y[b, i, j] = sum(k) f32(%a[b, i, k]) * f32(%b[b, k, j])   rows i, columns j
//
// A workgroup has a tile of results: some subgroups along rows and columns,
// each with some matrices along both. A tile may also have several lines of one
// more axis that the rows' factor moves along (an image has lines of pixels),
// one line per subgroup. Slices of both factors are copied to memory of the
// workgroup, as in tiles.h: the next ones while these are used, if there is
// room; two or three slices ahead, if the device copies asynchronously. If
// matrices fill the results, and a result is only the sum, matrices are stored
// directly to the results; otherwise to memory of the workgroup, from which
// invocations finish them. A sum that whole matrices do not fill is extended by
// zeros (pad).
//
// Wide products are those whose instructions several subgroups execute together
// (warpgroups).
//
// Internal to the default schedule.
#ifndef EMBER_JIT_SCHEDULE_GPU_MATRIX_RULE_H_
#define EMBER_JIT_SCHEDULE_GPU_MATRIX_RULE_H_

#include <cstdint>
#include <optional>
#include <set>

#include "jit/loops/analysis/matrix_operation.h"
#include "jit/schedule/core/steps.h"
#include "jit/schedule/gpu/costs.h"
#include "jit/schedule/rules/schedule_writer.h"
#include "jit/target/gpu_model.h"

namespace ember::schedule {

// The number of subgroups of a workgroup along an axis, and of matrices of each
// subgroup.
struct GpuMatrixTile {
  int64_t subgroups = 1;
  int64_t matrices = 1;
  int64_t count() const { return subgroups * matrices; }
};

struct MatrixPlan {
  loops::MatrixType type;
  // Axes of the product: the results' axes of a and of b, the sum's axis, and
  // one more axis of a; -1: none.
  int rows = -1;
  int columns = -1;
  int steps = -1;
  int lines = -1;
  GpuMatrixTile row_tile, column_tile;
  int64_t line_tile = 1;  // number of lines of a tile, one per subgroup
  // Steps of the sum per slice: a multiple of the matrices' depth.
  int64_t slice = 0;
  bool is_double = false;
  bool by_registers = false;
  // number of slots of asynchronous copies; 0: copies are not asynchronous
  int64_t slots = 0;
  // True if the loops around the slices (over a window) are fused with the loop
  // over slices.
  bool fuses_iterations = false;
  bool is_exact = true;  // true if whole matrices fill the sum
  // Number of subgroups that execute an instruction together. They share the
  // columns' factor, and follow each other along rows.
  int64_t subgroups_together = 1;
  double cost = 0;  // cost of all tiles in the model of costs.h
  TilesOnGpu tiles;
  // Best number of ranges for the slices of all tiles (stream-K); 0: not known,
  // because the number of workgroups that run at once is not.
  double ranges = 0;
  bool IsWide() const { return subgroups_together > 1; }
  // For wide products: true if the rows' factor, too, is read from panels, not
  // from registers (jit/target/shared_panels.h).
  bool has_row_panels = false;
  // True if an iteration's products continue asynchronously in the next
  // iteration. The products of the two iterations then read one slot each,
  // while a third slot is copied to.
  bool GoesOn() const { return has_row_panels && slots > 3; }
  // Number of elements of the results' tile along the rows and along the
  // columns.
  int64_t RowsOfTile() const { return row_tile.count() * type.rows; }
  int64_t ColumnsOfTile() const { return column_tile.count() * type.columns; }
  int64_t Subgroups() const {
    return row_tile.subgroups * column_tile.subgroups * line_tile;
  }
};

// Returns the tile that costs least, by a model like that of tiles.h in
// which matrices are kMatrixSpeed times as fast as multiply-adds of
// invocations. through_memory: results go through memory of the workgroup.
// nullopt if the stage is no product, if the device has no matrices of its
// types, or if they would be mostly empty.
inline constexpr double kMatrixSpeed = 8;
// Limits of a tile, if other stages share the workgroup.
struct MatrixTileLimits {
  int64_t rows = 0;     // number of rows of the tile, on one line; 0: any
  int64_t columns = 0;  // largest number of columns; 0: any
  // number of subgroups; 0: any; wide products may use fewer
  int64_t subgroups = 0;
  // True if there is one slice, which is the whole sum.
  bool is_whole = false;
  // True if workgroups compute ranges of all tiles' slices, of equal length
  // (stream-K).
  bool of_ranges = false;
};
std::optional<MatrixPlan> PlanMatricesOnGpu(
    const jit::GpuModel& gpu, const Computation& computation, int stage,
    bool through_memory, const MatrixTileLimits& limits = {});

// Says where a product that is computed for a tile of rows finds its factors.
struct RowFactors {
  // The buffers that are in memory of the workgroup already. Slices of other
  // buffers are copied.
  std::set<BufferRef> resident;
  // The stages that compute a factor for this product alone: each slice of the
  // factor is computed just before the product reads it.
  std::set<StageRef> gathered;
  // Only for products with one slice: the serial loops around the product in
  // which slices of its factors are copied. The slice of the rows' factor is
  // copied in loop `rows`, that of the columns' factor in loop `columns`, one
  // iteration ahead. If not set, slices are copied in the product's own loop
  // over slices.
  std::optional<LoopRef> rows, columns;
  // number of subgroups of the workgroup; all of them copy slices
  int64_t subgroups = 0;
};

// Schedules the loops of a product that is computed inside another stage's loop
// over tiles of `plan.RowsOfTile()` rows. Tiles of columns are computed one
// after the other, with results in memory of the workgroup. Returns false if
// some primitive is refused.
bool ScheduleMatricesOfRows(const jit::GpuModel& gpu, const MatrixPlan& plan,
                            const StageRef& product, const RowFactors& factors,
                            ScheduleWriter& writer);

// Returns the cost of the tile that ScheduleMatricesOnGpu would try first, in
// the model of costs.h; nullopt if ScheduleMatricesOnGpu does not apply.
std::optional<ProductCost> CostOfMatricesOnGpu(const jit::GpuModel& gpu,
                                               const StageRef& root,
                                               const StageRef& product,
                                               const std::set<StageRef>& done,
                                               const Schedule& schedule);

// Returns the cost of the best tile for ranges of the sum's slices (the
// primitive stream); nullopt if no tile of matrices fits the product.
std::optional<ProductCost> TileOfRangesOnGpu(const jit::GpuModel& gpu,
                                             const StageRef& product,
                                             const Schedule& schedule);

// Schedules the product, which is `root` or computed point by point for it.
// Returns, like ScheduleProductOnGpu, the innermost loop of the root, in which
// a point of it is computed; nullopt if the rule does not apply.
std::optional<LoopRef> ScheduleMatricesOnGpu(const jit::GpuModel& gpu,
                                             const StageRef& root,
                                             const StageRef& product,
                                             std::set<StageRef>& done,
                                             ScheduleWriter& writer);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_GPU_MATRIX_RULE_H_
