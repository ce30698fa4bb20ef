// Makes buffers in the memory of this process, for drivers whose device is the
// host.
#ifndef EMBER_HAL_CPU_HOST_MEMORY_H_
#define EMBER_HAL_CPU_HOST_MEMORY_H_

#include <cstdint>
#include <memory>

#include "base/host_allocator.h"
#include "base/status.h"
#include "hal/buffer.h"
#include "hal/memory_counter.h"

namespace ember::hal {

// Returns a zeroed buffer that begins at a cache line. Its bytes count in
// `memory` until it is destroyed. The allocator and the counter must outlive
// it. Returns ResourceExhausted if the counter's limit would be exceeded or if
// there is not enough memory; InvalidArgument if the size is negative or the
// allocator's memory is not aligned.
StatusOr<std::unique_ptr<Buffer>> AllocateHostBuffer(
    int64_t size, const HostAllocator& allocator, MemoryCounter& memory);

}  // namespace ember::hal

#endif  // EMBER_HAL_CPU_HOST_MEMORY_H_
