// Checks the tensor maps of a dispatch (BoxMap of hal/executable.h) and encodes
// CUDA's bytes for them.
//
//   EMBER_RETURN_IF_ERROR(CheckMaps(maps, binding_count));   // once
//   EMBER_ASSIGN_OR_RETURN(
//       std::vector<CUtensorMap> encoded,
//       EncodeMaps(context, maps, bindings, map_extents));   // each dispatch
//
// Errors: InvalidArgument, with the number of the map, for a map that CUDA's
// driver would refuse without a message, or for a tensor that is not within its
// binding. Thread-safe.
#ifndef EMBER_HAL_CUDA_TENSOR_MAPS_H_
#define EMBER_HAL_CUDA_TENSOR_MAPS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"
#include "hal/buffer.h"
#include "hal/cuda/context.h"
#include "hal/executable.h"

namespace ember::hal::cuda {

// Checks everything about the maps that does not depend on a dispatch's
// arguments.
Status CheckMaps(std::span<const BoxMap> maps, int binding_count);

// Encodes maps that CheckMaps has accepted. `map_extents` has one extent for
// each dim of each map. The CUDA library must have cuTensorMapEncodeTiled.
StatusOr<std::vector<CUtensorMap>> EncodeMaps(
    Context& context, std::span<const BoxMap> maps,
    std::span<const BufferRange> bindings, std::span<const int64_t> extents);

}  // namespace ember::hal::cuda

#endif  // EMBER_HAL_CUDA_TENSOR_MAPS_H_
