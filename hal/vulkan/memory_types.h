// Chooses which of the memory types that a device reports are used for which
// kind of buffers.
//
//   MemoryTypes types =
//       ChooseMemoryTypes(properties, VK_PHYSICAL_DEVICE_TYPE_CPU);
//   types.shares_memory;                     // true: one memory for both
//   types.Types(MemoryKind::kDeviceLocal);   // best first
//
// Only host-coherent memory is mapped, so that nothing is ever flushed.
// Immutable.
#ifndef EMBER_HAL_VULKAN_MEMORY_TYPES_H_
#define EMBER_HAL_VULKAN_MEMORY_TYPES_H_

#include <cstdint>
#include <vector>

#include "hal/buffer.h"
#include "hal/vulkan/functions.h"

namespace ember::hal::vulkan {

struct MemoryTypes {
  // True if the device accesses memory that the host can access as fast as any
  // other memory.
  bool shares_memory = false;
  // Numbers of the memory types for each kind of memory, the best first. The
  // lists are never empty on a device that follows the specification.
  std::vector<uint32_t> host_visible, device_local;

  const std::vector<uint32_t>& Types(MemoryKind kind) const {
    return kind == MemoryKind::kHostVisible ? host_visible : device_local;
  }
};

MemoryTypes ChooseMemoryTypes(const VkPhysicalDeviceMemoryProperties& memory,
                              VkPhysicalDeviceType type);

// Returns the number of bytes of the largest device-local heap.
int64_t DeviceMemoryBytes(const VkPhysicalDeviceMemoryProperties& memory);

}  // namespace ember::hal::vulkan

#endif  // EMBER_HAL_VULKAN_MEMORY_TYPES_H_
