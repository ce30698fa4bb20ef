// Inspects a SPIR-V module before the driver passes it to Vulkan, whose
// behaviour is undefined for invalid modules. It detects code that is no
// SPIR-V, is cut off or lacks the entry point, and reports the capabilities
// that the module needs. It is not a full validator, because modules come from
// Ember's compiler.
//
//   EMBER_ASSIGN_OR_RETURN(const SpirvModule module,
//                          InspectSpirv(words, "main"));
#ifndef EMBER_HAL_VULKAN_SPIRV_MODULE_H_
#define EMBER_HAL_VULKAN_SPIRV_MODULE_H_

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace ember::hal::vulkan {

struct SpirvModule {
  uint32_t version = 0;  // Version of SPIR-V; 0x00010500 is version 1.5.
  std::vector<uint32_t> capabilities;
  // A binding of the entry point that is a texel buffer, and its format in the
  // module (spv::ImageFormat). Texel buffers are found only in modules of
  // SPIR-V 1.4 or later, whose entry points list all their variables. All other
  // bindings are storage buffers.
  struct TexelBuffer {
    uint32_t binding = 0;
    uint32_t format = 0;
  };
  std::vector<TexelBuffer> texel_buffers;
  // Size of a workgroup of the entry point; zeros if the module defines the
  // size by constants (LocalSizeId).
  std::array<uint32_t, 3> workgroup = {};

  bool Declares(uint32_t capability) const;
};

// Inspects a module. Returns InvalidArgument if the words are no SPIR-V module
// in this machine's byte order, if an instruction is cut off, or if the module
// has no compute shader with the name of the entry point.
StatusOr<SpirvModule> InspectSpirv(std::span<const uint32_t> words,
                                   std::string_view entry_point);

}  // namespace ember::hal::vulkan

#endif  // EMBER_HAL_VULKAN_SPIRV_MODULE_H_
