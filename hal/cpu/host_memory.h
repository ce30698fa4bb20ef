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

// Returns a zeroed buffer of whole cache lines, which is counted while it
// lives. The allocator and the counter must outlive it. ResourceExhausted if
// the counter's limit or the memory is exceeded.
StatusOr<std::unique_ptr<Buffer>> AllocateHostBuffer(
    int64_t size, const HostAllocator& allocator, MemoryCounter& memory);

}  // namespace ember::hal

#endif  // EMBER_HAL_CPU_HOST_MEMORY_H_
