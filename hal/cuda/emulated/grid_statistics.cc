#include "hal/cuda/emulated/grid_statistics.h"

#include <mutex>

namespace ember::hal::cuda {
namespace {

struct Totals {
  std::mutex mutex;
  GridStatistics statistics;
};

Totals& AllGrids() {
  static Totals& totals = *new Totals();
  return totals;
}

}  // namespace

void AddStatistics(const GridStatistics& of_grid, GridStatistics* statistics) {
  Totals& totals = AllGrids();
  const std::lock_guard lock(totals.mutex);
  for (GridStatistics* sum : {&totals.statistics, statistics}) {
    if (sum == nullptr) continue;
    sum->products += of_grid.products;
    sum->matrix_loads += of_grid.matrix_loads;
    sum->matrix_passes += of_grid.matrix_passes;
    sum->async_copies += of_grid.async_copies;
    sum->box_copies += of_grid.box_copies;
  }
}

GridStatistics TotalStatistics() {
  Totals& totals = AllGrids();
  const std::lock_guard lock(totals.mutex);
  return totals.statistics;
}

}  // namespace ember::hal::cuda
