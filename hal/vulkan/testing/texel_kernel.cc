#include "hal/vulkan/testing/texel_kernel.h"

#include <spirv-tools/libspirv.hpp>
#include <string>

#include "base/check.h"

namespace ember::hal::vulkan {
namespace {

constexpr const char* kBefore = R"(
  OpCapability Shader
  OpCapability SampledBuffer
  OpMemoryModel Logical GLSL450
  OpEntryPoint GLCompute %main "texels" %workgroup %in %out
  OpExecutionMode %main LocalSize 1 1 1
  OpDecorate %workgroup BuiltIn WorkgroupId
  OpDecorate %array ArrayStride 4
  OpDecorate %buffer Block
  OpMemberDecorate %buffer 0 Offset 0
  OpDecorate %in DescriptorSet 0
  OpDecorate %in Binding 0
  OpDecorate %out DescriptorSet 0
  OpDecorate %out Binding 1
  %void = OpTypeVoid
  %function = OpTypeFunction %void
  %uint = OpTypeInt 32 0
  %uint3 = OpTypeVector %uint 3
  %uint4 = OpTypeVector %uint 4
  %image = OpTypeImage %uint Buffer 0 0 0 1 )";

constexpr const char* kBehind = R"(
  %array = OpTypeRuntimeArray %uint
  %buffer = OpTypeStruct %array
  %input_pointer = OpTypePointer Input %uint3
  %image_pointer = OpTypePointer UniformConstant %image
  %buffer_pointer = OpTypePointer StorageBuffer %buffer
  %element_pointer = OpTypePointer StorageBuffer %uint
  %zero = OpConstant %uint 0
  %workgroup = OpVariable %input_pointer Input
  %in = OpVariable %image_pointer UniformConstant
  %out = OpVariable %buffer_pointer StorageBuffer
  %main = OpFunction %void None %function
  %start = OpLabel
  %id = OpLoad %uint3 %workgroup
  %chunk = OpCompositeExtract %uint %id 0
  %texels = OpLoad %image %in
  %texel = OpImageFetch %uint4 %texels %chunk
  %value = OpCompositeExtract %uint %texel 2
  %to = OpAccessChain %element_pointer %out %zero %chunk
  OpStore %to %value
  OpReturn
  OpFunctionEnd
)";

}  // namespace

TexelKernel::TexelKernel(const char* format) {
  const std::string text = std::string(kBefore) + format + kBehind;
  EMBER_CHECK(spvtools::SpirvTools(SPV_ENV_VULKAN_1_2).Assemble(text, &words_))
      << "cannot assemble texels";
  definition_.name = definition_.entry_point = "texels";
  definition_.format = "spirv";
  definition_.binding_count = 2;
  definition_.parameter_count = 0;
  definition_.code = {reinterpret_cast<const uint8_t*>(words_.data()),
                      words_.size() * sizeof words_[0]};
}

}  // namespace ember::hal::vulkan
