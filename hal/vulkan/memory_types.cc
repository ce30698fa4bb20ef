#include "hal/vulkan/memory_types.h"

#include <algorithm>
#include <span>

namespace ember::hal::vulkan {
namespace {

constexpr VkMemoryPropertyFlags kLocal = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
constexpr VkMemoryPropertyFlags kMappable =
    VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
constexpr VkMemoryPropertyFlags kCached = VK_MEMORY_PROPERTY_HOST_CACHED_BIT;
// Memory types are used only if they have no properties other than these. Other
// properties have special meanings: protected, lazily allocated, uncached by
// the device.
constexpr VkMemoryPropertyFlags kOrdinary = kLocal | kMappable | kCached;

struct Candidate {
  uint32_t number;
  int score;
  VkDeviceSize heap_bytes;
};

std::vector<uint32_t> Sorted(std::vector<Candidate> candidates) {
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate& a, const Candidate& b) {
                     if (a.score != b.score) return a.score > b.score;
                     return a.heap_bytes > b.heap_bytes;
                   });
  std::vector<uint32_t> numbers;
  for (const Candidate& candidate : candidates)
    numbers.push_back(candidate.number);
  return numbers;
}

// Returns the numbers of the memory types that can be used, the best first.
// score(properties) rates a type: higher is better, and a negative score
// excludes it.
template <typename Score>
std::vector<uint32_t> Choose(const VkPhysicalDeviceMemoryProperties& memory,
                             const Score& score) {
  std::vector<Candidate> candidates;
  for (uint32_t i = 0; i < memory.memoryTypeCount; ++i) {
    const VkMemoryType& type = memory.memoryTypes[i];
    if ((type.propertyFlags & ~kOrdinary) != 0) continue;
    const int points = score(type.propertyFlags);
    if (points >= 0) {
      candidates.push_back(
          {i, points, memory.memoryHeaps[type.heapIndex].size});
    }
  }
  return Sorted(std::move(candidates));
}

bool Has(VkMemoryPropertyFlags flags, VkMemoryPropertyFlags wanted) {
  return (flags & wanted) == wanted;
}

}  // namespace

MemoryTypes ChooseMemoryTypes(const VkPhysicalDeviceMemoryProperties& memory,
                              VkPhysicalDeviceType type) {
  MemoryTypes types;
  // Only these kinds of devices share memory with the host. A discrete device
  // may also let the host access its memory, but over a bus, and the host's
  // reads of it are not cached.
  const bool is_one_memory = type == VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU ||
                             type == VK_PHYSICAL_DEVICE_TYPE_CPU;
  types.host_visible = Choose(memory, [&](VkMemoryPropertyFlags flags) {
    if (!Has(flags, kMappable)) return -1;
    // Rates types for memory that the host accesses. Cached memory is best,
    // because reads of uncached memory take a hundred times as long. On a
    // discrete device memory that is not device-local is preferred, because the
    // memory that is both device-local and mapped may be small.
    return (Has(flags, kCached) ? 2 : 0) +
           (Has(flags, kLocal) == is_one_memory ? 1 : 0);
  });
  types.shares_memory = is_one_memory && !types.host_visible.empty();
  if (types.shares_memory) {
    types.device_local = types.host_visible;
    return types;
  }
  types.device_local = Choose(memory, [](VkMemoryPropertyFlags flags) {
    if (!Has(flags, kLocal)) return -1;
    return Has(flags, VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT) ? 0 : 1;
  });
  return types;
}

int64_t DeviceMemoryBytes(const VkPhysicalDeviceMemoryProperties& memory) {
  VkDeviceSize most = 0;
  for (const VkMemoryHeap& heap :
       std::span(memory.memoryHeaps, memory.memoryHeapCount)) {
    if ((heap.flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) != 0)
      most = std::max(most, heap.size);
  }
  return static_cast<int64_t>(
      std::min<VkDeviceSize>(most, static_cast<VkDeviceSize>(INT64_MAX)));
}

}  // namespace ember::hal::vulkan
