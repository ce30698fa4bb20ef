#include "jit/schedule/gpu/gpu_row_tile_cost.h"

#include "base/rounding.h"

namespace ember::schedule {
namespace {

// What a key costs beside the rows of a tile, in rows: of slices that are
// copied when they are needed; and of barriers and the like for each block of
// keys.
constexpr double kRowsOfSlices = 24;
constexpr double kElementsOfBlock = 2000;
// Of a phase more, which combines what is known of parts of the keys. A guess.
constexpr double kElementsOfCombining = 32000;
// Of products of warpgroups, which load no factors to registers.
constexpr double kCostOfWide = 0.9;
// Of a processor that has one workgroup at once: nothing runs while that waits;
// less if that is for others only, not for memory. Both are guesses.
constexpr double kCostOfWaiting = 1.5;
constexpr double kCostOfWaitingAhead = 1.4;
// Of scaling sums for each block, in keys.
constexpr double kKeysOfFold = 12.8;

}  // namespace

double CostOf(const RowTileFigures& tile) {
  const auto turns =
      static_cast<double>(DivideRoundingUp(tile.tiles, tile.processors));
  const auto keys = static_cast<double>(tile.keys_of_block),
             parts = static_cast<double>(tile.parts);
  const bool is_in_blocks = tile.blocks > 1;
  const double rows = static_cast<double>(tile.rows) *
                      (is_in_blocks ? 1 + kKeysOfFold / keys : 1);
  const double overhead =
      (tile.is_ahead ? 0 : kRowsOfSlices) + kElementsOfBlock / keys;
  const double waiting = !tile.is_alone  ? 1
                         : tile.is_ahead ? kCostOfWaitingAhead
                                         : kCostOfWaiting;
  const double all_keys = keys * static_cast<double>(tile.blocks) * parts;
  const double combining =
      tile.parts == 1 ? 0 : kElementsOfCombining / all_keys;
  return combining + turns / parts * (rows + overhead) * waiting *
                         (tile.is_wide ? kCostOfWide : 1) *
                         (is_in_blocks ? tile.share_of_blocks : 1);
}

}  // namespace ember::schedule
