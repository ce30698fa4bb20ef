// Inspects a SPIR-V module before the driver passes it to Vulkan, whose
// behaviour is undefined for invalid modules. Finds code that is no SPIR-V, is
// cut off, lacks its entry point, or needs features that the device does not
// have. It is no validator: modules come from our compiler.
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
  uint32_t version = 0;  // version of SPIR-V: 0x00010500 is 1.5
  std::vector<uint32_t> capabilities;
  // Bindings of the entry point that are texel buffers, in no order, and their
  // format in the module (spv::ImageFormat). They are known for modules from
  // SPIR-V 1.4 on, whose entry points list all variables. All others are
  // storage buffers.
  struct TexelBuffer {
    uint32_t binding = 0;
    uint32_t format = 0;
  };
  std::vector<TexelBuffer> texel_buffers;
  // Size of a workgroup of the entry point; zeros if the module takes it from
  // constants (LocalSizeId).
  std::array<uint32_t, 3> workgroup = {};

  bool Declares(uint32_t capability) const;
};

// Inspects a module. Returns InvalidArgument if the words are no module of this
// machine's byte order, or have no compute shader of that name.
StatusOr<SpirvModule> InspectSpirv(std::span<const uint32_t> words,
                                   std::string_view entry_point);

}  // namespace ember::hal::vulkan

#endif  // EMBER_HAL_VULKAN_SPIRV_MODULE_H_
