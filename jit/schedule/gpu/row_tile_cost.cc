#include "jit/schedule/gpu/row_tile_cost.h"

#include "base/rounding.h"

namespace ember::schedule {
namespace {

// The work for one row of a tile and one key counts as one element.
// kRowsOfSlices: cost, in elements per key, of slices that are copied only when
// they are needed. kElementsOfBlock: cost per block, for barriers and the like.
constexpr double kRowsOfSlices = 24;
constexpr double kElementsOfBlock = 2000;
// Cost, in elements, of the second phase, which combines the results of several
// parts of the keys. The number is a guess.
constexpr double kElementsOfCombining = 32000;
// Ratio of the cost of products of warpgroups, which load no factors to
// registers, to that of other products.
constexpr double kCostOfWide = 0.9;
// Factors by which the cost grows if only one workgroup fits on a processor,
// which is then idle while that workgroup waits. kCostOfWaitingAhead: if slices
// are copied ahead, so that the workgroup waits at barriers only, not for
// memory. Both are guesses.
constexpr double kCostOfWaiting = 1.5;
constexpr double kCostOfWaitingAhead = 1.4;
// Cost of scaling a row's running sums, which happens once per block, as a
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
