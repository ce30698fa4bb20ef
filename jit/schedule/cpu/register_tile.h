// Chooses register tiles for sums of products by their cost.
//
//   StageShape shape(computation, product);
//   std::optional<RegisterTile> tile = ChooseRegisterTile(cpu, shape);
//   // 14 rows of axis tile->u by two vectors of 16 along tile->v
//
// A tile has `rows` values of one axis (u) by `vectors` vectors of another (v).
// Results are usually contiguous in memory along v; if these are few, v is
// another axis. Per step of the sum a tile needs rows * vectors multiply-adds
// and a load of each operand per value of the axes that move it. The model
// assumes two multiply-adds and two loads per cycle, and four cycles until the
// result of an addition can be used again. It minimises the cost of the whole
// stage. That includes points that are computed beyond the ends, and the pieces
// of memory that operands are read in: a few long pieces arrive in time, many
// short ones do not.
//
// If both operands move along the vectors (depthwise convolutions), each value
// is loaded for few multiply-adds. Then short sums are unrolled completely, so
// that neighbouring results share loads. Internal to the default schedule.
#ifndef EMBER_JIT_SCHEDULE_CPU_REGISTER_TILE_H_
#define EMBER_JIT_SCHEDULE_CPU_REGISTER_TILE_H_

#include <cstdint>
#include <optional>

#include "jit/schedule/rules/root_axes.h"
#include "jit/schedule/rules/stage_shape.h"
#include "jit/target/cpu_model.h"

namespace ember::schedule {

struct RegisterTile {
  int u = -1;  // number of the spatial axis along which the tile has rows; -1:
               // none
  int v = 0;   // number of the spatial axis along which the tile has vectors
  int64_t rows = 1;
  int64_t vectors = 1;
  int64_t lanes = 1;
  bool writes_out_sum = false;  // true if the whole sum of each result is
                                // unrolled
  // True if the last vector of the axis is partial and the last tile gets code
  // of its own. No other tile then has to test or mask its vectors.
  bool peels_vectors = false;

  int64_t width() const { return vectors * lanes; }
};

// Chooses the tile of a stage that is a product. Returns nothing if no axis has
// enough points for vectors. `common`: for a product inside a group, the axes
// that the group's stages have in common. Each of them has one value, except
// common.rows, which has several.
std::optional<RegisterTile> ChooseRegisterTile(const jit::CpuModel& cpu,
                                               const StageShape& shape,
                                               const CommonAxes& common = {});

// True if testing at each load if the value is in the padding costs less than
// making and reading a padded copy. `load` is one of the product's loads.
bool AsksForPadding(const jit::CpuModel& cpu, const StageShape& shape,
                    const RegisterTile& tile, NodeId load);

// The size of a register tile of a plain matrix product, in rows and vectors.
struct MatrixTile {
  int64_t rows = 1;
  int64_t vectors = 1;
};
// Chooses the tile for a matrix product with results of `rows` by `columns`, in
// vectors of `lanes` lanes.
MatrixTile ChooseMatrixTile(const jit::CpuModel& cpu, int64_t lanes,
                            int64_t rows, int64_t columns);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_CPU_REGISTER_TILE_H_
