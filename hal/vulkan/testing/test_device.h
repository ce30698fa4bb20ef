// Makes a Vulkan device for a test, whose BUILD line has `env =
// VULKAN_TEST_ENV` (hal/vulkan/testing.bzl). If there is no device, ends the
// test: skipped, with the reason, on a machine without the software device;
// failed otherwise.
//
//   EMBER_VULKAN_DEVICE(device, {.separate_memory = true});
//   device->Allocate(…);
#ifndef EMBER_HAL_VULKAN_TESTING_TEST_DEVICE_H_
#define EMBER_HAL_VULKAN_TESTING_TEST_DEVICE_H_

#include <cstdlib>
#include <string_view>

#include "base/status.h"
#include "gtest/gtest.h"
#include "hal/vulkan/device.h"

namespace ember::hal::vulkan {

// True if the status says that this machine has no Vulkan at all, so that the
// test may be skipped.
inline bool MaySkip(const Status& status) {
  const char* const value = std::getenv("EMBER_TEST_VULKAN");
  return status.code() == StatusCode::kNotFound && value != nullptr &&
         std::string_view(value) == "optional";
}

}  // namespace ember::hal::vulkan

#define EMBER_VULKAN_DEVICE(name, ...)                          \
  auto name##_or = ::ember::hal::CreateVulkanDevice(            \
      0, ::ember::hal::DeviceOptions __VA_ARGS__);              \
  if (::ember::hal::vulkan::MaySkip(name##_or.status()))        \
    GTEST_SKIP() << name##_or.status().ToString();              \
  ASSERT_TRUE(name##_or.ok()) << name##_or.status().ToString(); \
  auto name = *std::move(name##_or)

#endif  // EMBER_HAL_VULKAN_TESTING_TEST_DEVICE_H_
