#include "jit/schedule/gpu/row_tile_cost.h"

#include "base/rounding.h"

namespace ember::schedule {
namespace {

// A tile costs one unit for each of its rows and each key. kRowsOfSlices is the
// additional cost per key of slices that are copied when they are needed.
// kElementsOfBlock is the additional cost per block, for barriers and the like.
constexpr double kRowsOfSlices = 24;
constexpr double kElementsOfBlock = 2000;
// Cost of a second phase, which combines the results of several parts of the
// keys. The number is a guess.
constexpr double kElementsOfCombining = 32000;
// Relative cost of products of warpgroups, which load no factors to registers.
constexpr double kCostOfWide = 0.9;
// The cost is multiplied by kCostOfWaiting if a processor has only one
// workgroup, so that nothing runs while it waits, and by kCostOfWaitingAhead if
// that workgroup waits only at barriers and not for memory. Both are guesses.
constexpr double kCostOfWaiting = 1.5;
constexpr double kCostOfWaitingAhead = 1.4;
// Scaling the running sums, which happens once per block, costs as much as this
// number of keys.
constexpr double kKeysOfFold = 12.8;

}  // namespace

double CostOf(const RowTileFigures& tile) {
  const auto rounds =
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
  return combining + rounds / parts * (rows + overhead) * waiting *
                         (tile.is_wide ? kCostOfWide : 1) *
                         (is_in_blocks ? tile.share_of_blocks : 1);
}

}  // namespace ember::schedule
