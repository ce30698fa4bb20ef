// Checks which memory types are chosen for each kind of memory, for lists of
// types that real devices report.
#include "hal/vulkan/memory_types.h"

#include <initializer_list>

#include "gtest/gtest.h"

namespace ember::hal::vulkan {
namespace {

constexpr VkMemoryPropertyFlags kLocal = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
constexpr VkMemoryPropertyFlags kMapped =
    VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
constexpr VkMemoryPropertyFlags kCached = VK_MEMORY_PROPERTY_HOST_CACHED_BIT;
constexpr VkDeviceSize kGiB = VkDeviceSize{1} << 30;

using Numbers = std::vector<uint32_t>;

VkPhysicalDeviceMemoryProperties Memory(
    std::initializer_list<VkMemoryHeap> heaps,
    std::initializer_list<VkMemoryType> types) {
  VkPhysicalDeviceMemoryProperties memory = {};
  for (const VkMemoryHeap& heap : heaps)
    memory.memoryHeaps[memory.memoryHeapCount++] = heap;
  for (const VkMemoryType& type : types)
    memory.memoryTypes[memory.memoryTypeCount++] = type;
  return memory;
}

TEST(MemoryTypesTest, Software) {
  const auto memory = Memory({{2 * kGiB, VK_MEMORY_HEAP_DEVICE_LOCAL_BIT}},
                             {{kLocal | kMapped | kCached, 0}});
  const MemoryTypes types =
      ChooseMemoryTypes(memory, VK_PHYSICAL_DEVICE_TYPE_CPU);
  EXPECT_TRUE(types.shares_memory);
  EXPECT_EQ(types.host_visible, Numbers{0});
  EXPECT_EQ(types.device_local, Numbers{0});
  EXPECT_EQ(DeviceMemoryBytes(memory), static_cast<int64_t>(2 * kGiB));
}

// The types of a discrete device: video memory, uncached and cached host
// memory, and the video memory that the host can access (a small window or,
// with a large BAR, all of it).
TEST(MemoryTypesTest, Discrete) {
  for (const VkDeviceSize window : {kGiB / 4, 24 * kGiB}) {
    const auto memory = Memory({{24 * kGiB, VK_MEMORY_HEAP_DEVICE_LOCAL_BIT},
                                {48 * kGiB, 0},
                                {window, VK_MEMORY_HEAP_DEVICE_LOCAL_BIT}},
                               {{0, 1},
                                {kLocal, 0},
                                {kMapped, 1},
                                {kMapped | kCached, 1},
                                {kLocal | kMapped, 2}});
    const MemoryTypes types =
        ChooseMemoryTypes(memory, VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU);
    EXPECT_FALSE(types.shares_memory);
    EXPECT_EQ(types.host_visible, (Numbers{3, 2, 4}));
    EXPECT_EQ(types.device_local, (Numbers{1, 4}));
    EXPECT_EQ(types.Types(MemoryKind::kDeviceLocal).front(), 1u);
    EXPECT_EQ(DeviceMemoryBytes(memory), static_cast<int64_t>(24 * kGiB));
  }
}

// The device is integrated, and a part of the machine's memory is reserved for
// it. All memory is equally fast, so memory that the host caches is best both
// for host-visible and for device-local buffers.
TEST(MemoryTypesTest, IntegratedWithAPartOfItsOwn) {
  const auto memory =
      Memory({{8 * kGiB, 0}, {kGiB / 2, VK_MEMORY_HEAP_DEVICE_LOCAL_BIT}},
             {{kLocal, 1},
              {kMapped, 0},
              {kLocal | kMapped, 1},
              {kMapped | kCached, 0}});
  const MemoryTypes types =
      ChooseMemoryTypes(memory, VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU);
  EXPECT_TRUE(types.shares_memory);
  EXPECT_EQ(types.host_visible, (Numbers{3, 2, 1}));
  EXPECT_EQ(types.device_local, types.host_visible);
}

// Memory types that are protected, lazily allocated, or not coherent must not
// be used.
TEST(MemoryTypesTest, SpecialTypesAreLeftAlone) {
  const auto memory =
      Memory({{kGiB, VK_MEMORY_HEAP_DEVICE_LOCAL_BIT}},
             {{kLocal | VK_MEMORY_PROPERTY_PROTECTED_BIT, 0},
              {kLocal | VK_MEMORY_PROPERTY_LAZILY_ALLOCATED_BIT, 0},
              {kLocal | VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | kCached, 0},
              {kLocal | kMapped, 0}});
  const MemoryTypes types =
      ChooseMemoryTypes(memory, VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU);
  EXPECT_EQ(types.host_visible, Numbers{3});
  EXPECT_EQ(types.device_local, Numbers{3});
}

}  // namespace
}  // namespace ember::hal::vulkan
