// The back end for Vulkan. It emits SPIR-V modules.
#ifndef EMBER_JIT_SPIRV_BACKEND_H_
#define EMBER_JIT_SPIRV_BACKEND_H_

#include "jit/backend/backend.h"

namespace ember::jit {

extern const Backend kVulkanBackend;

}  // namespace ember::jit

#endif  // EMBER_JIT_SPIRV_BACKEND_H_
