// A Vulkan loader for tests: it passes every call to the real loader, except
// those that must fail. It is a shared library, opened through
// EMBER_VULKAN_LIBRARY; any tool can run on it.
//
//   EMBER_VULKAN_LIBRARY=…/libfaulty_vulkan.so
//   EMBER_VULKAN_FAULT=vkQueueSubmit:2:-4    # the second call: VK_ERROR_DEVICE_LOST
//
// The format is FUNCTION:CALL:RESULT. The variable is read, and calls are
// counted from 1, whenever a device is made or listed. A call that fails is not
// passed on. Result 0 of vkEnumeratePhysicalDevices is a success that finds
// none.
#ifndef EMBER_HAL_VULKAN_TESTING_FAULTY_VULKAN_H_
#define EMBER_HAL_VULKAN_TESTING_FAULTY_VULKAN_H_

#include <cstdint>

// The functions below are found by dlsym.
extern "C" {
// Returns the name of a function that can fail: those that the driver knows and
// that return a VkResult. Null after the last.
const char* EmberFaultyFunction(int64_t index);
// Returns the number of calls that failed since the environment variable was
// read.
int64_t EmberFaultCount();
}

#endif  // EMBER_HAL_VULKAN_TESTING_FAULTY_VULKAN_H_
