// Chooses the tile of a product that is computed as matrices: how many matrices
// each subgroup has, how long slices of the sum are, and how slices are copied.
//
//   %y[b, i, j] = sum(k) f32(%a[b, i, k]) * f32(%b[b, k, j])   rows i, columns j
//
//   const std::optional<MatrixPlan> plan =
//       PlanMatricesOnGpu(gpu, computation, stage, /*through_memory=*/false);
//   plan->RowsOfTile();  // 128: 2 subgroups of 4 matrices of 16 rows
//
// Wide products are those whose instructions several subgroups execute together
// (warpgroups).
//
// Internal to the default schedule.
#ifndef EMBER_JIT_SCHEDULE_GPU_MATRIX_TILES_H_
#define EMBER_JIT_SCHEDULE_GPU_MATRIX_TILES_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "jit/loops/analysis/matrix_operation.h"
#include "jit/schedule/core/computation.h"
#include "jit/schedule/gpu/costs.h"
#include "jit/target/gpu_model.h"

namespace ember::schedule {

// The division of a tile along one axis: the number of subgroups, and the
// number of matrices of each subgroup.
struct GpuMatrixTile {
  int64_t subgroups = 1;
  int64_t matrices = 1;
  int64_t count() const { return subgroups * matrices; }
};

struct MatrixPlan {
  loops::MatrixType type;
  // Axes of the product, -1 for none. rows: the axis of the results along which
  // factor a moves. columns: that along which factor b moves. steps: the axis
  // of the sum. lines: a second axis along which factor a moves, such as the
  // lines of an image.
  int rows = -1;
  int columns = -1;
  int steps = -1;
  int lines = -1;
  GpuMatrixTile row_tile, column_tile;
  int64_t line_tile = 1;  // number of lines of a tile; each subgroup has one
  // number of steps of the sum in a slice: a multiple of the matrices' depth
  int64_t slice = 0;
  bool is_double = false;
  bool by_registers = false;
  // number of ring slots, if slices are copied asynchronously; otherwise 0
  int64_t slots = 0;
  // True if the loops around the loop over slices, such as those over a window,
  // are fused with it.
  bool fuses_iterations = false;
  bool is_exact = true;  // true if the sum is a multiple of the matrices' depth
  // Number of subgroups that execute one instruction together. They share the
  // columns' factor, and their rows follow each other.
  int64_t subgroups_together = 1;
  double cost = 0;  // cost of all tiles, in the model of costs.h
  TilesOnGpu tiles;
  // Best number of ranges for dividing the slices of all tiles among workgroups
  // (stream-K); 0 if it is not known how many workgroups run at once.
  double ranges = 0;
  bool IsWide() const { return subgroups_together > 1; }
  // For wide products: true if the rows' factor is read from panels in shared
  // memory (jit/target/shared_panels.h), as the columns' factor is, and not
  // from registers.
  bool has_row_panels = false;
  // True if the products of an iteration stay in flight while the next
  // iteration begins. Products of two iterations then read one slot each, while
  // another slot is filled.
  bool GoesOn() const { return has_row_panels && slots > 3; }
  // Return the number of rows and of columns of a tile of results.
  int64_t RowsOfTile() const { return row_tile.count() * type.rows; }
  int64_t ColumnsOfTile() const { return column_tile.count() * type.columns; }
  // Returns the size of a tile of results along an axis of the product.
  int64_t SizeOf(size_t axis) const {
    const int a = static_cast<int>(axis);
    if (a == rows) return RowsOfTile();
    if (a == columns) return ColumnsOfTile();
    return a == lines ? line_tile : 1;
  }
  // Returns the number of results of a tile.
  int64_t PointsOfTile() const {
    return RowsOfTile() * ColumnsOfTile() * line_tile;
  }
  int64_t Subgroups() const {
    return row_tile.subgroups * column_tile.subgroups * line_tile;
  }
};

inline constexpr double kMatrixSpeed = 8;

// Limits on the tile of a product that shares its workgroup with other stages.
struct MatrixTileLimits {
  int64_t rows = 0;     // number of rows that the tile must have on one line;
                        // 0: any number
  int64_t columns = 0;  // largest number of columns; 0: any
  // number of subgroups of the workgroup; 0: any; a wide product may use fewer
  int64_t subgroups = 0;
  // true if the tile must have a single slice, which is the whole sum
  bool is_whole = false;
  // True if the tile is for ranges of equal length (stream-K), into which the
  // slices of all tiles are divided.
  bool of_ranges = false;
};

// Returns the tile that costs least, by a model like that of tiles.h in which
// multiply-adds of matrices are kMatrixSpeed times as fast as those of
// invocations. through_memory: true if results are stored to memory of the
// workgroup first. Returns nullopt if the stage is no product, if the device
// has no matrices of its types, if matrices would be mostly empty, or if no
// tile is within the limits of the device and of `limits`.
std::optional<MatrixPlan> PlanMatricesOnGpu(
    const jit::GpuModel& gpu, const Computation& computation, int stage,
    bool through_memory, const MatrixTileLimits& limits = {});

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_GPU_MATRIX_TILES_H_
