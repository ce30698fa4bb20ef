// Schedules a tile of rows of a group of stages with products among them. This
// is one trial of row_tile_rule.h, which describes what a workgroup does.
//
//   const auto scheduled = ScheduleRowTile(gpu, group, {.rows = 64}, writer);
//   if (scheduled && scheduled->cost < best) ...
//
// Internal to the default schedule.
#ifndef EMBER_JIT_SCHEDULE_GPU_ROW_TILE_H_
#define EMBER_JIT_SCHEDULE_GPU_ROW_TILE_H_

#include <cstdint>
#include <optional>
#include <set>

#include "jit/schedule/core/steps.h"
#include "jit/schedule/rules/schedule_writer.h"
#include "jit/schedule/rules/stage_groups.h"
#include "jit/target/gpu_model.h"

namespace ember::schedule {

// Number of subgroups of a workgroup. Each subgroup has its own rows of
// matrices or, if there are fewer rows than subgroups, its own columns.
inline constexpr int64_t kRowTileSubgroups = 8;

struct RowTile {
  int64_t rows = 0;
  // True if products use instructions of warpgroups.
  bool is_wide = false;
  // True if slices are whole sums: those of the first product's rows are copied
  // once for the tile, all others once for a block, while the previous block is
  // computed.
  bool is_ahead = false;
  // Number of parts of the keys. The group's root is a fold of a part; its axis
  // before the last has this extent, and each of its values is a task.
  int64_t parts = 1;
};

struct ScheduledRowTile {
  // Cost of all tiles, in units of a row's cost, by which tiles are compared.
  double cost = 0;
  // True if a processor has room for only one workgroup, so that it runs
  // nothing while that workgroup waits.
  bool is_alone = false;
  // The group's stages, and the stages that were made from them.
  std::set<StageRef> stages;
};

// Splits the group's root into tiles of rows, along its dim group.depth - 1,
// and computes all other stages for these tiles. Returns nullopt if the device
// has no matrices for a product, if the tile does not fit, or if some primitive
// is refused.
std::optional<ScheduledRowTile> ScheduleRowTile(const jit::GpuModel& gpu,
                                                const StageGroup& group,
                                                const RowTile& tile,
                                                ScheduleWriter& writer);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_GPU_ROW_TILE_H_
