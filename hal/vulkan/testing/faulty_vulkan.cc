#include "hal/vulkan/testing/faulty_vulkan.h"

#include <dlfcn.h>

#include <atomic>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "hal/vulkan/functions.h"

namespace {

#define EMBER_ALL_FUNCTIONS(F)       \
  EMBER_VULKAN_GLOBAL_FUNCTIONS(F)   \
  EMBER_VULKAN_INSTANCE_FUNCTIONS(F) \
  EMBER_VULKAN_DEBUG_FUNCTIONS(F)    \
  EMBER_VULKAN_DEVICE_FUNCTIONS(F)

enum Function : int {
#define EMBER_NAME(name) k##name,
  EMBER_ALL_FUNCTIONS(EMBER_NAME)
#undef EMBER_NAME
      kFunctionCount
};

constexpr const char* kNames[] = {
#define EMBER_NAME(name) "vk" #name,
    EMBER_ALL_FUNCTIONS(EMBER_NAME)
#undef EMBER_NAME
};

// The fault that the environment variable EMBER_VULKAN_FAULT describes. It is
// set only while no other thread makes a call.
std::string fault_function;
int64_t fault_call = 0;
VkResult fault_result = VK_SUCCESS;

std::atomic<int64_t> calls[kFunctionCount];
std::atomic<int64_t> fault_count{0};
std::atomic<PFN_vkVoidFunction> next[kFunctionCount];

void ReadFault() {
  for (std::atomic<int64_t>& count : calls) count = 0;
  fault_count = 0;
  fault_call = 0;
  const char* const value = std::getenv("EMBER_VULKAN_FAULT");
  const std::string_view text = value == nullptr ? "" : value;
  const size_t first = text.find(':');
  const size_t second = text.find(':', first + 1);
  if (first == std::string_view::npos || second == std::string_view::npos)
    return;
  fault_function = text.substr(0, first);
  int result = 0;
  std::from_chars(&text[first + 1], &text[second], fault_call);
  std::from_chars(&text[second + 1], text.data() + text.size(), result);
  fault_result = static_cast<VkResult>(result);
}

// Counts a call. If the call must fail, returns the result that it returns
// instead of calling the real loader; otherwise nullopt.
std::optional<VkResult> FaultOf(int function) {
  const int64_t call = ++calls[function];
  if (call != fault_call || fault_function != kNames[function])
    return std::nullopt;
  ++fault_count;
  return fault_result;
}

template <int kFunction, typename Pointer>
// Functions that do not return a VkResult cannot fail and are not intercepted.
struct Intercept {
  static PFN_vkVoidFunction Get() { return nullptr; }
};

template <int kFunction, typename... Arguments>
struct Intercept<kFunction, VkResult(VKAPI_PTR*)(Arguments...)> {
  using Pointer = VkResult(VKAPI_PTR*)(Arguments...);
  static VKAPI_ATTR VkResult VKAPI_CALL Call(Arguments... arguments) {
    if (const std::optional<VkResult> fault = FaultOf(kFunction)) {
      if constexpr (kFunction == kEnumeratePhysicalDevices)
        SetToZero(arguments...);
      return *fault;
    }
    return reinterpret_cast<Pointer>(next[kFunction].load())(arguments...);
  }
  static PFN_vkVoidFunction Get() {
    return reinterpret_cast<PFN_vkVoidFunction>(Call);
  }
  static void SetToZero(VkInstance, uint32_t* count, VkPhysicalDevice*) {
    *count = 0;
  }
};

// Returns the function that the driver gets in place of `found`, the function
// of the real loader.
PFN_vkVoidFunction Replace(std::string_view name, PFN_vkVoidFunction found) {
  if (found == nullptr) return nullptr;
#define EMBER_REPLACE(function)                          \
  if (name == "vk" #function) {                          \
    const PFN_vkVoidFunction own =                       \
        Intercept<k##function, PFN_vk##function>::Get(); \
    if (own == nullptr) return found;                    \
    next[k##function] = found;                           \
    return own;                                          \
  }
  EMBER_ALL_FUNCTIONS(EMBER_REPLACE)
#undef EMBER_REPLACE
  return found;
}

PFN_vkGetInstanceProcAddr RealGetInstanceProcAddr() {
  static const auto function = [] {
    void* const library = ::dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
    return library == nullptr ? nullptr
                              : reinterpret_cast<PFN_vkGetInstanceProcAddr>(
                                    ::dlsym(library, "vkGetInstanceProcAddr"));
  }();
  return function;
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL GetDeviceFunction(VkDevice device,
                                                           const char* name) {
  const auto real = reinterpret_cast<PFN_vkGetDeviceProcAddr>(
      next[kGetDeviceProcAddr].load());
  return Replace(name, real(device, name));
}

}  // namespace

extern "C" {

__attribute__((visibility("default"))) VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL
vkGetInstanceProcAddr(VkInstance instance, const char* name) {
  const PFN_vkGetInstanceProcAddr real = RealGetInstanceProcAddr();
  if (real == nullptr) return nullptr;
  const std::string_view wanted = name;
  // The driver requests vkCreateInstance first whenever it makes or lists
  // devices, so the variable EMBER_VULKAN_FAULT is read again here.
  if (wanted == "vkCreateInstance") ReadFault();
  const PFN_vkVoidFunction found = real(instance, name);
  if (wanted == "vkGetDeviceProcAddr") {
    next[kGetDeviceProcAddr] = found;
    return reinterpret_cast<PFN_vkVoidFunction>(GetDeviceFunction);
  }
  return Replace(wanted, found);
}

__attribute__((visibility("default"))) const char* EmberFaultyFunction(
    int64_t index) {
  // One entry for each function, in the order of kNames: true if the function
  // returns a VkResult and so can fail.
  const bool can_fail[] = {
#define EMBER_CAN_FAIL(name) Intercept<k##name, PFN_vk##name>::Get() != nullptr,
      EMBER_ALL_FUNCTIONS(EMBER_CAN_FAIL)
#undef EMBER_CAN_FAIL
  };
  for (int function = 0; function < kFunctionCount; ++function) {
    if (can_fail[function] && index-- == 0) return kNames[function];
  }
  return nullptr;
}

__attribute__((visibility("default"))) int64_t EmberFaultCount() {
  return fault_count;
}
}
