// Products of f16, bf16, f32 (tf32), i8 and u8 on GPUs as products of matrices
// of subgroups (multiply_matrices), where the device has some of the types.
//
//   %y[b, i, j] = sum(k) f32(%a[b, i, k]) * f32(%b[b, k, j])   rows i, columns j
//
// A workgroup has a tile of results: so many subgroups along rows and columns,
// each with so many matrices of both, and of one more axis that the rows'
// factor moves along (lines of an image beside its pixels) a line for each
// subgroup. Slices of both factors are copied to memory of the workgroup, as in
// gpu_tiles.h: the next ones while these are used, if there is room; where
// the device copies asynchronously, two or three slices ahead. Where
// matrices fill the results and a result is just the sum, the matrices are
// stored to where that lies; else to memory of the workgroup, from which
// invocations finish them. A sum that whole matrices do not fill runs on over
// zeros (pad).
//
// Internal to the default schedule.
#ifndef EMBER_JIT_SCHEDULE_GPU_GPU_MATRIX_RULE_H_
#define EMBER_JIT_SCHEDULE_GPU_GPU_MATRIX_RULE_H_

#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "jit/loops/matrix_operation.h"
#include "jit/schedule/gpu/gpu_costs.h"
#include "jit/schedule/rules/schedule_writer.h"
#include "jit/target/gpu_model.h"

namespace ember::schedule {

// How many subgroups a workgroup has along an axis, and how many matrices each
// of them.
struct MatrixTile {
  int64_t subgroups = 1;
  int64_t matrices = 1;
  int64_t count() const { return subgroups * matrices; }
};

struct MatrixPlan {
  loops::MatrixType type;
  // Axes of the product: a's and b's of the results, the sum's, and one more of
  // a's; -1: there is none.
  int rows = -1;
  int columns = -1;
  int steps = -1;
  int lines = -1;
  MatrixTile row_tile, column_tile;
  int64_t line_tile = 1;  // a line for each subgroup
  int64_t slice = 0;      // steps of the sum, a multiple of the matrices'
  bool is_double = false;
  bool by_registers = false;
  int64_t slots = 0;  // not 0: copied asynchronously, into so many
  // The loops around the slices (of a window) and that over them are one.
  bool turns_together = false;
  bool is_exact = true;  // whole matrices fill the sum
  // Subgroups that execute an instruction together, with one factor of columns:
  // they follow each other along rows.
  int64_t subgroups_together = 1;
  double cost = 0;  // by the model of gpu_costs.h
  TilesOnGpu tiles;
  // In how many ranges the slices of all tiles are shared out best; 0: it is
  // not known how many workgroups there are at once.
  double ranges = 0;
  bool IsWide() const { return subgroups_together > 1; }
  // Of wide ones: the rows' factor is read from panels, too, not from registers
  // (jit/gpu/shared_panels.h).
  bool has_row_panels = false;
  // A turn's products go on in the next one: of the slots, one is read in each,
  // and one is copied to.
  bool GoesOn() const { return has_row_panels && slots > 3; }
  // Elements of the results' tile along the axes.
  int64_t RowsOfTile() const { return row_tile.count() * type.rows; }
  int64_t ColumnsOfTile() const { return column_tile.count() * type.columns; }
  int64_t Subgroups() const {
    return row_tile.subgroups * column_tile.subgroups * line_tile;
  }
};

// The tile that costs least by a model as that of gpu_tiles.h, in which
// matrices are kMatrixSpeed times as fast as multiply-adds of invocations; with
// results in memory of the workgroup, or not. Nothing where the stage is no
// such product, the device has no matrices of its types, or they would be
// mostly empty.
inline constexpr double kMatrixSpeed = 8;
// What of a tile is given, where other stages share the workgroup.
struct MatrixTileLimits {
  int64_t rows = 0;       // of the tile, on one line; 0: any
  int64_t columns = 0;    // at most; 0: any
  int64_t subgroups = 0;  // 0: any; of wide products, a part of them may do
  // One slice, of the whole sum.
  bool is_whole = false;
  // Workgroups are to have ranges of all tiles' slices, of one length.
  bool of_ranges = false;
};
std::optional<MatrixPlan> PlanMatricesOnGpu(
    const jit::GpuModel& gpu, const Computation& computation, int stage,
    bool through_memory, const MatrixTileLimits& limits = {});

// Where a product of rows finds its factors.
struct RowFactors {
  // In memory of the workgroup, by buffer; of others slices are copied.
  std::set<std::string> resident;
  // Made by stages of these names, for this product alone: each slice is
  // computed when it is needed.
  std::set<std::string> gathered;
  // Of products with one slice: the loops around the product, serial ones of
  // the stages, in which the slice of its rows is copied, and that of its
  // columns, this one a turn ahead. Where there are none, in the product's own
  // loop over slices.
  struct Loop {
    std::string stage, loop;
  };
  std::optional<Loop> rows, columns;
  int64_t subgroups = 0;  // of the workgroup, who copy together
};

// Schedules the loops of a product that is computed inside another stage's
// loop over tiles of `plan.RowsOfTile()` rows: tiles of columns one after the
// other, in memory of the workgroup. False if something is refused.
bool ScheduleMatricesOfRows(const jit::GpuModel& gpu, const MatrixPlan& plan,
                            const std::string& product,
                            const RowFactors& factors, ScheduleWriter& writer);

// What the tile that ScheduleMatricesOnGpu would try first costs, by the model
// of gpu_costs.h; nothing where it does not apply.
std::optional<ProductCost> CostOfMatricesOnGpu(
    const jit::GpuModel& gpu, const std::string& root,
    const std::string& product, const std::set<std::string>& done,
    const Schedule& schedule);

// The tile in whose slices the sum is shared out best (the primitive stream).
std::optional<ProductCost> TileOfRangesOnGpu(const jit::GpuModel& gpu,
                                             const std::string& product,
                                             const Schedule& schedule);

// Schedules the product, which is `root` or computed point by point for it, as
// ScheduleProductOnGpu does, whose results this has.
std::optional<std::string> ScheduleMatricesOnGpu(const jit::GpuModel& gpu,
                                                 const std::string& root,
                                                 const std::string& product,
                                                 std::set<std::string>& done,
                                                 ScheduleWriter& writer);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_GPU_GPU_MATRIX_RULE_H_
