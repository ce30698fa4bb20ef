#include "hal/conformance/kernels.h"

#include <spirv-tools/libspirv.hpp>
#include <string>

#include "base/check.h"
#include "hal/cuda/emulated/grid.h"

namespace ember::hal {
namespace {

void Scale(const int64_t* parameters, void* const* buffers, int64_t chunk,
           int32_t) {
  static_cast<uint32_t*>(buffers[1])[chunk] =
      static_cast<const uint32_t*>(buffers[0])[chunk] *
      static_cast<uint32_t>(parameters[0]);
}

// SPIR-V of Kernel::kScale for every device of Vulkan 1.1. It uses no optional
// features such as 64-bit integers, so it reads a parameter as two 32-bit
// integers, the lower one first.
constexpr const char* kScaleText = R"(
  OpCapability Shader
  OpMemoryModel Logical GLSL450
  OpEntryPoint GLCompute %main "scale" %workgroup %workgroups
  OpExecutionMode %main LocalSize 1 1 1
  OpDecorate %workgroup BuiltIn WorkgroupId
  OpDecorate %workgroups BuiltIn NumWorkgroups
  OpDecorate %array ArrayStride 4
  OpDecorate %buffer Block
  OpMemberDecorate %buffer 0 Offset 0
  OpDecorate %constants Block
  OpMemberDecorate %constants 0 Offset 0
  OpDecorate %in DescriptorSet 0
  OpDecorate %in Binding 0
  OpDecorate %out DescriptorSet 0
  OpDecorate %out Binding 1
  %void = OpTypeVoid
  %function = OpTypeFunction %void
  %uint = OpTypeInt 32 0
  %uint2 = OpTypeVector %uint 2
  %uint3 = OpTypeVector %uint 3
  %array = OpTypeRuntimeArray %uint
  %buffer = OpTypeStruct %array
  %constants = OpTypeStruct %uint2
  %input_pointer = OpTypePointer Input %uint3
  %buffer_pointer = OpTypePointer StorageBuffer %buffer
  %element_pointer = OpTypePointer StorageBuffer %uint
  %constants_pointer = OpTypePointer PushConstant %constants
  %constant_pointer = OpTypePointer PushConstant %uint
  %zero = OpConstant %uint 0
  %workgroup = OpVariable %input_pointer Input
  %workgroups = OpVariable %input_pointer Input
  %in = OpVariable %buffer_pointer StorageBuffer
  %out = OpVariable %buffer_pointer StorageBuffer
  %push = OpVariable %constants_pointer PushConstant
  %main = OpFunction %void None %function
  %start = OpLabel
  %id = OpLoad %uint3 %workgroup
  %x = OpCompositeExtract %uint %id 0
  %y = OpCompositeExtract %uint %id 1
  %z = OpCompositeExtract %uint %id 2
  %count = OpLoad %uint3 %workgroups
  %nx = OpCompositeExtract %uint %count 0
  %ny = OpCompositeExtract %uint %count 1
  %plane = OpIMul %uint %z %ny
  %row = OpIAdd %uint %plane %y
  %before = OpIMul %uint %row %nx
  %chunk = OpIAdd %uint %before %x
  %from = OpAccessChain %element_pointer %in %zero %chunk
  %value = OpLoad %uint %from
  %where = OpAccessChain %constant_pointer %push %zero %zero
  %factor = OpLoad %uint %where
  %product = OpIMul %uint %value %factor
  %to = OpAccessChain %element_pointer %out %zero %chunk
  OpStore %to %product
  OpReturn
  OpFunctionEnd
)";

void Nothing(const int64_t*, void* const*, int64_t, int32_t) {}

constexpr const char* kNothingText = R"(
  OpCapability Shader
  OpMemoryModel Logical GLSL450
  OpEntryPoint GLCompute %main "nothing"
  OpExecutionMode %main LocalSize 1 1 1
  %void = OpTypeVoid
  %function = OpTypeFunction %void
  %main = OpFunction %void None %function
  %start = OpLabel
  OpReturn
  OpFunctionEnd
)";

// PTX of Kernel::kScale, for any GPU since sm_70.
constexpr const char* kScalePtx = R"(
.version 6.3
.target sm_70
.address_size 64
.visible .entry scale(.param .u64 in, .param .u64 out, .param .u64 factor)
{
  .reg .u32 %r<12>;
  .reg .u64 %d<8>;
  mov.u32 %r0, %ctaid.x;
  mov.u32 %r1, %ctaid.y;
  mov.u32 %r2, %ctaid.z;
  mov.u32 %r3, %nctaid.x;
  mov.u32 %r4, %nctaid.y;
  mad.lo.u32 %r5, %r2, %r4, %r1;
  mad.lo.u32 %r6, %r5, %r3, %r0;
  ld.param.u64 %d0, [in];
  ld.param.u64 %d1, [out];
  ld.param.u32 %r7, [factor];
  cvta.to.global.u64 %d2, %d0;
  cvta.to.global.u64 %d3, %d1;
  mul.wide.u32 %d4, %r6, 4;
  add.u64 %d5, %d2, %d4;
  add.u64 %d6, %d3, %d4;
  ld.global.u32 %r8, [%d5];
  mul.lo.u32 %r9, %r8, %r7;
  st.global.u32 [%d6], %r9;
  ret;
}
)";

constexpr const char* kNothingPtx = R"(
.version 6.3
.target sm_70
.address_size 64
.visible .entry nothing()
{
  ret;
}
)";

constexpr const char* kScaleOpenCl = R"(
kernel void scale(global uchar *in, ulong in_at, global uchar *out,
                  ulong out_at, long factor) {
  size_t chunk = get_group_id(0) +
                 get_num_groups(0) *
                     (get_group_id(1) + get_num_groups(1) * get_group_id(2));
  const uint value = ((global const uint *)(in + in_at))[chunk];
  ((global uint *)(out + out_at))[chunk] = value * (uint)factor;
}
)";

constexpr const char* kNothingOpenCl = "kernel void nothing(void) {}\n";

constexpr const char* kScaleMsl = R"(#include <metal_stdlib>
using namespace metal;
kernel void scale(device const uint *in [[buffer(0)]], device uint *out [[buffer(1)]], constant long *parameters [[buffer(30)]], uint3 group [[threadgroup_position_in_grid]], uint3 groups [[threadgroups_per_grid]]) {
  const uint chunk = group.x + groups.x * (group.y + groups.y * group.z);
  out[chunk] = in[chunk] * (uint)parameters[0];
}
)";

constexpr const char* kNothingMsl = R"(#include <metal_stdlib>
using namespace metal;
kernel void nothing() {}
)";

void ScaleOfGrid(cuda::GridThread* thread, void* const* arguments) {
  const uint32_t chunk =
      thread->block[0] +
      thread->blocks[0] *
          (thread->block[1] + thread->blocks[1] * thread->block[2]);
  const auto& in = *static_cast<const uint32_t* const*>(arguments[0]) + chunk;
  const auto& out = *static_cast<uint32_t* const*>(arguments[1]) + chunk;
  const int64_t factor = *static_cast<const int64_t*>(arguments[2]);
  const auto access = thread->functions->access;
  access(thread, in, 4, static_cast<uint32_t>(cuda::AccessKind::kLoad));
  access(thread, out, 4, static_cast<uint32_t>(cuda::AccessKind::kStore));
  *out = *in * static_cast<uint32_t>(factor);
}

void NothingOfGrid(cuda::GridThread*, void* const*) {}

struct Row {
  const char* name;
  HostFunction function;
  const char* spirv;
  const char* ptx;
  const char* opencl;
  const char* msl;
  cuda::GridKernel grid;
  int binding_count;
  int parameter_count;
};

// The kernels in all formats. There is one row for each value of Kernel, in the
// order of the enum.
constexpr Row kRows[] = {{"scale", Scale, kScaleText, kScalePtx, kScaleOpenCl,
                          kScaleMsl, ScaleOfGrid, 2, 1},
                         {"nothing", Nothing, kNothingText, kNothingPtx,
                          kNothingOpenCl, kNothingMsl, NothingOfGrid, 0, 0}};

}  // namespace

KernelCode::KernelCode(Kernel kernel, std::string_view format) {
  const Row& row = kRows[static_cast<size_t>(kernel)];
  definition_.name = row.name;
  definition_.format = format;
  definition_.binding_count = row.binding_count;
  definition_.parameter_count = row.parameter_count;
  if (format == "host-function") {
    definition_.function = row.function;
    return;
  }
  definition_.entry_point = row.name;
  if (format == "ptx" || format == "opencl-c" || format == "msl") {
    const std::string_view text = format == "ptx"   ? row.ptx
                                  : format == "msl" ? row.msl
                                                    : row.opencl;
    definition_.code = {reinterpret_cast<const uint8_t*>(text.data()),
                        text.size()};
    return;
  }
  if (format == "emulated-grid") {
    const cuda::GridEntry entry = {
        .name = row.name,
        .function = row.grid,
        .argument_count =
            static_cast<size_t>(row.binding_count + row.parameter_count)};
    image_ = cuda::WriteGridImage({&entry, 1});
    definition_.code = image_;
    return;
  }
  EMBER_CHECK(format == "spirv") << "no such format";
  // The code is assembled for Vulkan 1.1, that is, as SPIR-V 1.3, which every
  // device can load.
  EMBER_CHECK(
      spvtools::SpirvTools(SPV_ENV_VULKAN_1_1).Assemble(row.spirv, &words_))
      << "cannot assemble " << row.name;
  definition_.code = {reinterpret_cast<const uint8_t*>(words_.data()),
                      words_.size() * sizeof words_[0]};
}

}  // namespace ember::hal
