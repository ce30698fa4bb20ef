// A Vulkan loader for tests: it hands every call on to the real one, but for
// those that are to fail. A shared library, opened through
// EMBER_VULKAN_LIBRARY; any tool can run on it.
//
//   EMBER_VULKAN_LIBRARY=…/libfaulty_vulkan.so
//   EMBER_VULKAN_FAULT=vkQueueSubmit:2:-4    # the second call: VK_ERROR_DEVICE_LOST
//
// FUNCTION:CALL:RESULT; read, and calls counted from 1, whenever a device is
// made or listed. A call that fails is not handed on. Result 0 of
// vkEnumeratePhysicalDevices is a success that finds none.
#ifndef EMBER_HAL_VULKAN_TESTING_FAULTY_VULKAN_H_
#define EMBER_HAL_VULKAN_TESTING_FAULTY_VULKAN_H_

#include <cstdint>

// For dlsym.
extern "C" {
// Names of the functions that can fail: those that the driver knows and that
// give a VkResult. Null behind the last.
const char* EmberFaultyFunction(int64_t index);
// Calls that failed since the variable was read.
int64_t EmberFaultCount();
}

#endif  // EMBER_HAL_VULKAN_TESTING_FAULTY_VULKAN_H_
