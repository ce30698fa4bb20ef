// A tile of rows of a group of stages, with products among them: one trial of
// gpu_row_tile_rule.h, which says what a workgroup does.
//
//   const auto scheduled = ScheduleRowTile(gpu, group, {.rows = 64}, writer);
//   if (scheduled && scheduled->cost < best) ...
//
// Internal to the default schedule.
#ifndef EMBER_JIT_SCHEDULE_GPU_GPU_ROW_TILE_H_
#define EMBER_JIT_SCHEDULE_GPU_GPU_ROW_TILE_H_

#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "jit/schedule/rules/schedule_writer.h"
#include "jit/schedule/rules/stage_groups.h"
#include "jit/target/gpu_model.h"

namespace ember::schedule {

// Subgroups of a workgroup: as many rows of matrices, or fewer with columns of
// their own.
inline constexpr int64_t kRowTileSubgroups = 8;

struct RowTile {
  int64_t rows = 0;
  // Products are those of warpgroups.
  bool is_wide = false;
  // Slices are whole: those of the first product's rows are copied once for the
  // tile, all others once for a block, while the one before is computed.
  bool is_ahead = false;
  // The group's root is a fold of parts of the keys, whose axis before the last
  // has so many: each is a task.
  int64_t parts = 1;
};

struct ScheduledRowTile {
  // Of all tiles, by what a row takes: what tiles are compared by.
  double cost = 0;
  // Nothing else runs on a processor while a workgroup waits.
  bool is_alone = false;
  // Those of the group, and those that were made of them.
  std::set<std::string> stages;
};

// The group's root gets tiles of rows, which are those of its dim group.depth -
// 1; all others are computed for them. Nothing if a product has no matrices
// of the device, the tile has no room, or something is refused.
std::optional<ScheduledRowTile> ScheduleRowTile(const jit::GpuModel& gpu,
                                                const StageGroup& group,
                                                const RowTile& tile,
                                                ScheduleWriter& writer);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_GPU_GPU_ROW_TILE_H_
