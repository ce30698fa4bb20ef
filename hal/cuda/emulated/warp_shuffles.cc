#include "hal/cuda/emulated/warp_shuffles.h"

namespace ember::hal::cuda {

uint32_t LaneToShuffle(ShuffleMode mode, uint32_t lane, uint32_t b,
                       uint32_t c) {
  const uint32_t segment = c >> 8 & 31, clamp = c & 31;
  const uint32_t most = (lane & segment) | (clamp & ~segment);
  const uint32_t least = lane & segment;
  b &= 31;
  uint32_t from = lane;
  bool is_inside = true;
  switch (mode) {
    case ShuffleMode::kIndex:
      from = least | (b & ~segment);
      is_inside = from <= most;
      break;
    case ShuffleMode::kUp:
      from = lane - b;
      is_inside = static_cast<int32_t>(lane - b) >= static_cast<int32_t>(most);
      break;
    case ShuffleMode::kDown:
      from = lane + b;
      is_inside = from <= most;
      break;
    case ShuffleMode::kButterfly:
      from = lane ^ b;
      is_inside = from <= most;
      break;
  }
  return is_inside ? from : lane;
}

}  // namespace ember::hal::cuda
