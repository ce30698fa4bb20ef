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

// Number of subgroups of a workgroup. Each subgroup multiplies its own rows of
// matrices. If there are fewer rows of matrices than subgroups, subgroups
// divide the columns, too.
inline constexpr int64_t kRowTileSubgroups = 8;

struct RowTile {
  int64_t rows = 0;
  // true if products use instructions of warpgroups (wide products)
  bool is_wide = false;
  // True if each slice of a product is its whole sum. The slice of the first
  // product's rows is copied once for the tile. All other slices are copied
  // once per block, while the previous block is computed.
  bool is_ahead = false;
  // Number of parts into which the keys are divided. If there are several, the
  // group's root is the fold of a part; its axis before the last counts the
  // parts, each of which is a task of its own.
  int64_t parts = 1;
};

struct ScheduledRowTile {
  // cost of all tiles, by which tiles are compared; the unit is the work for
  // one row and all of its keys
  double cost = 0;
  // True if only one workgroup fits on a processor, so that the processor is
  // idle while that workgroup waits.
  bool is_alone = false;
  // the stages of the group, and the stages that were added for them
  std::set<StageRef> stages;
};

// Schedules the group in tiles of rows: splits the root along its dim
// group.depth - 1, and computes all other stages for one tile at a time.
// Returns nullopt if the device has no matrices for a product, if the tile does
// not fit a workgroup, or if some primitive is refused.
std::optional<ScheduledRowTile> ScheduleRowTile(const jit::GpuModel& gpu,
                                                const StageGroup& group,
                                                const RowTile& tile,
                                                ScheduleWriter& writer);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_GPU_ROW_TILE_H_
