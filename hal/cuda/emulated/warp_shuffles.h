// Computes the lane whose value a thread of a warp gets from PTX's shfl.sync.
//
//   LaneToShuffle(ShuffleMode::kButterfly, /*lane=*/5, /*b=*/1, /*c=*/31);  // 4
//
// Source: PTX ISA, "shfl.sync". Thread-safe.
#ifndef EMBER_HAL_CUDA_EMULATED_WARP_SHUFFLES_H_
#define EMBER_HAL_CUDA_EMULATED_WARP_SHUFFLES_H_

#include <cstdint>

#include "hal/cuda/emulated/grid.h"

namespace ember::hal::cuda {

// Returns the lane whose value `lane` gets. b and c are the instruction's
// operands: the lowest five bits of c are the clamp, and its bits from 8 on the
// mask of the segment. A lane that would get a value from outside of its
// segment keeps its own.
uint32_t LaneToShuffle(ShuffleMode mode, uint32_t lane, uint32_t b, uint32_t c);

}  // namespace ember::hal::cuda

#endif  // EMBER_HAL_CUDA_EMULATED_WARP_SHUFFLES_H_
