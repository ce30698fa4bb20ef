// What tiles of rows with products among them (gpu_row_tile.h) are compared by.
//
//   CostOf({.tiles = 256, .processors = 132, .rows = 64, .keys_of_block = 64})
//
// Internal to the default schedule.
#ifndef EMBER_JIT_SCHEDULE_GPU_GPU_ROW_TILE_COST_H_
#define EMBER_JIT_SCHEDULE_GPU_GPU_ROW_TILE_COST_H_

#include <cstdint>

namespace ember::schedule {

struct RowTileFigures {
  int64_t tiles = 1;  // of the whole dispatch
  int64_t processors = 1;
  // Of a tile: its rows, and in how many parts of the keys each is.
  int64_t rows = 1;
  int64_t parts = 1;
  // How it goes over the keys of its part, and how many of the blocks it
  // computes on average, as rows do not see the others.
  int64_t keys_of_block = 1;
  int64_t blocks = 1;
  double share_of_blocks = 1;
  // As in RowTile and ScheduledRowTile.
  bool is_wide = false;
  bool is_ahead = false;
  bool is_alone = false;
};

// Of all tiles, by what a row takes.
double CostOf(const RowTileFigures& tile);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_GPU_GPU_ROW_TILE_COST_H_
