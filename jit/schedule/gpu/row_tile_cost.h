// The cost by which tiles of rows with products among them (row_tile.h) are
// compared.
//
//   CostOf({.tiles = 256, .processors = 132, .rows = 64, .keys_of_block = 64})
//
// Internal to the default schedule.
#ifndef EMBER_JIT_SCHEDULE_GPU_ROW_TILE_COST_H_
#define EMBER_JIT_SCHEDULE_GPU_ROW_TILE_COST_H_

#include <cstdint>

namespace ember::schedule {

struct RowTileFigures {
  int64_t tiles = 1;  // number of tiles in the whole dispatch
  int64_t processors = 1;
  // `rows`: number of rows of a tile. `parts`: number of parts of the keys.
  int64_t rows = 1;
  int64_t parts = 1;
  // `keys_of_block`: number of keys in a block. `blocks`: number of blocks in a
  // part. `share_of_blocks`: fraction of these blocks that a tile computes on
  // average, because a causal mask hides the others from all rows of the tile.
  int64_t keys_of_block = 1;
  int64_t blocks = 1;
  double share_of_blocks = 1;
  // Properties of the tile, as in the fields of RowTile and ScheduledRowTile
  // (row_tile.h) with the same names.
  bool is_wide = false;
  bool is_ahead = false;
  bool is_alone = false;
};

// Returns the cost of all tiles. The unit is the work for one row and all of
// its keys.
double CostOf(const RowTileFigures& tile);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_GPU_ROW_TILE_COST_H_
