// Register tiles for sums of products, by what they cost.
//
//   StageShape shape(computation, product);
//   std::optional<RegisterTile> tile = ChooseRegisterTile(cpu, shape);
//   // 14 rows of axis tile->u by two vectors of 16 along tile->v
//
// A tile has `rows` values of one axis (u) by `vectors` vectors of another (v,
// the one that results lie along in memory). Per step of the sum it needs
// rows * vectors multiply-adds and a load of each operand per value of the axes
// that move it; the model takes two of each per cycle, four cycles until an
// addition's result can be used again, and chooses what costs least for the
// whole stage, with what is computed beyond the ends counted in, and with the
// pieces of memory that operands are read in: few long ones come in time, many
// short ones do not.
//
// Where both operands move along the vectors (depthwise convolutions), each
// value is loaded for few multiply-adds; then short sums are written out, so
// that neighbouring results share what they read. Internal to the default
// schedule.
#ifndef EMBER_JIT_SCHEDULE_CPU_REGISTER_TILE_H_
#define EMBER_JIT_SCHEDULE_CPU_REGISTER_TILE_H_

#include <cstdint>
#include <optional>

#include "jit/schedule/rules/root_axes.h"
#include "jit/schedule/rules/stage_shape.h"
#include "jit/target/cpu_model.h"

namespace ember::schedule {

struct RegisterTile {
  int u = -1;  // axis of the rows; -1: none
  int v = 0;   // axis of the vectors
  int64_t rows = 1;
  int64_t vectors = 1;
  int64_t lanes = 1;
  bool writes_out_sum = false;  // all of its steps

  int64_t width() const { return vectors * lanes; }
};

// Of a product's stage; nothing where its results do not lie along memory, or
// fill no vector. common: of a product inside a group, axes that stand still,
// but for some rows of common.rows.
std::optional<RegisterTile> ChooseRegisterTile(const jit::CpuModel& cpu,
                                               const StageShape& shape,
                                               const CommonAxes& common = {});

// Whether a product on such tiles rather asks at each load whether it is in the
// padding than reads a copy that was made with it. `load` is one of the
// product's.
bool AsksForPadding(const jit::CpuModel& cpu, const StageShape& shape,
                    const RegisterTile& tile, NodeId load);

// A register tile of a plain matrix product.
struct MatrixTile {
  int64_t rows = 1;
  int64_t vectors = 1;
};
// For results of `rows` by `columns`.
MatrixTile ChooseMatrixTile(const jit::CpuModel& cpu, int64_t lanes,
                            int64_t rows, int64_t columns);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_CPU_REGISTER_TILE_H_
