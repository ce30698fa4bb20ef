// A Vulkan loader for tests: it passes every call on to the real loader, except
// a call that must fail. It is a shared library, which the variable
// EMBER_VULKAN_LIBRARY selects, so any tool can be run with it.
//
//   EMBER_VULKAN_LIBRARY=…/libfaulty_vulkan.so
//   EMBER_VULKAN_FAULT=vkQueueSubmit:2:-4    # the second call: VK_ERROR_DEVICE_LOST
//
// The format of EMBER_VULKAN_FAULT is FUNCTION:CALL:RESULT. The variable is
// read whenever a device is made or listed, and calls are counted from 1 since
// then. A call that fails is not passed on. With the result 0,
// vkEnumeratePhysicalDevices succeeds but finds no device.
#ifndef EMBER_HAL_VULKAN_TESTING_FAULTY_VULKAN_H_
#define EMBER_HAL_VULKAN_TESTING_FAULTY_VULKAN_H_

#include <cstdint>

// Tests call these functions; they find them with dlsym, because the library is
// opened at run time.
extern "C" {
// Returns the name of the function number `index` among those that the driver
// uses and that return a VkResult, so that they can fail. Returns null behind
// the last one.
const char* EmberFaultyFunction(int64_t index);
// Returns the number of calls that failed since the environment variable was
// read.
int64_t EmberFaultCount();
}

#endif  // EMBER_HAL_VULKAN_TESTING_FAULTY_VULKAN_H_
