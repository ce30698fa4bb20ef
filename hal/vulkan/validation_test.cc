// Tests that the validation layer detects mistakes such as missing barriers,
// because other tests rely on it for that.
#include "hal/vulkan/validation.h"

#include <cstdlib>

#include "gtest/gtest.h"
#include "hal/conformance/kernels.h"
#include "hal/vulkan/testing/test_device.h"

namespace ember::hal::vulkan {
namespace {

// Submits two dispatches, of which the second reads values that the first
// wrote, with or without a barrier in between. Returns the number of messages
// of the validation layer.
int64_t MessagesOfTwoDispatches(Device& device, bool with_barrier) {
  const int64_t before = ValidationMessageCount();
  auto a = *device.Allocate(64, MemoryKind::kDeviceLocal);
  auto b = *device.Allocate(64, MemoryKind::kDeviceLocal);
  const KernelCode code(Kernel::kScale, "spirv");
  auto executable = *device.LoadExecutable(code.definition());
  auto list = *device.CreateCommandList();
  const BufferRange forth[] = {{a.get(), 0, 64}, {b.get(), 0, 64}};
  const BufferRange back[] = {{b.get(), 0, 64}, {a.get(), 0, 64}};
  const int64_t parameters[] = {3};
  EXPECT_TRUE(
      list->Dispatch(*executable, {.bindings = forth, .parameters = parameters})
          .ok());
  if (with_barrier) {
    EXPECT_TRUE(list->Barrier().ok());
  }
  EXPECT_TRUE(
      list->Dispatch(*executable, {.bindings = back, .parameters = parameters})
          .ok());
  auto fence = *device.Submit(*list);
  EXPECT_TRUE(fence->Wait().ok());
  return ValidationMessageCount() - before;
}

TEST(ValidationTest, AMissingBarrierIsFound) {
  EMBER_VULKAN_DEVICE(device, {.validate = true});
  EXPECT_EQ(MessagesOfTwoDispatches(*device, /*with_barrier=*/true), 0);
  EXPECT_GT(MessagesOfTwoDispatches(*device, /*with_barrier=*/false), 0);
}

TEST(ValidationTest, NobodyIsAskedWithoutIt) {
  unsetenv("EMBER_VULKAN_VALIDATION");
  EMBER_VULKAN_DEVICE(device, {});
  EXPECT_EQ(MessagesOfTwoDispatches(*device, /*with_barrier=*/false), 0);
}

}  // namespace
}  // namespace ember::hal::vulkan
