// Adds up the counts of all grids of this process for TotalStatistics (grid.h).
//
// Internal to the emulated grid. Thread-safe.
#ifndef EMBER_HAL_CUDA_EMULATED_GRID_STATISTICS_H_
#define EMBER_HAL_CUDA_EMULATED_GRID_STATISTICS_H_

#include "hal/cuda/emulated/grid.h"

namespace ember::hal::cuda {

// Adds the counts of a grid to the total, and to `statistics` if that is not
// null.
void AddStatistics(const GridStatistics& of_grid, GridStatistics* statistics);

}  // namespace ember::hal::cuda

#endif  // EMBER_HAL_CUDA_EMULATED_GRID_STATISTICS_H_
