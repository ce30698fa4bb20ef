#include "jit/target/gpu_model.h"

#include "gtest/gtest.h"

namespace ember::jit {
namespace {

TEST(GpuModelTest, ReadsTargets) {
  const GpuModel gpu = GpuModel::Of(
      "vulkan1.3+f16+subgroup_shuffle+subgroup32+shared49152+invocations1024");
  EXPECT_EQ(gpu.subgroup_size, 32);
  EXPECT_EQ(gpu.shared_bytes, 49152);
  EXPECT_EQ(gpu.max_invocations, 1024);
  EXPECT_FALSE(gpu.is_cpu_like);
}

TEST(GpuModelTest, UnknownIsWhatEveryDeviceHas) {
  for (const char* target : {"", "vulkan1.2", "vulkan1.2+sharedx+shared"}) {
    const GpuModel gpu = GpuModel::Of(target);
    EXPECT_EQ(gpu.max_invocations, 128) << target;
    EXPECT_EQ(gpu.shared_bytes, 16384) << target;
    EXPECT_LE(gpu.workgroup_size, 128) << target;
    EXPECT_FALSE(gpu.is_cpu_like) << target;
  }
}

// A device has dot products only if the driver reports them as fast: it may
// emulate them.
TEST(GpuModelTest, DotProducts) {
  EXPECT_FALSE(GpuModel::Of("vulkan1.3+dot+subgroup32").has_dots);
  EXPECT_TRUE(GpuModel::Of("vulkan1.3+dot+fast_dot+subgroup32").has_dots);
  EXPECT_TRUE(GpuModel::Of("sm_75+subgroup32").has_dots);
}

TEST(GpuModelTest, Matrices) {
  const GpuModel gpu = GpuModel::Of(
      "vulkan1.3+matrix16x8x16:f16:f16:f32+subgroup32+matrix+matrix8x8:f16+"
      "matrix16x16x32:u8:i8:i32");
  ASSERT_EQ(gpu.matrices.size(), 2u);
  EXPECT_EQ(loops::ToText(gpu.matrices[0]), "16x8x16:f16:f16:f32");
  EXPECT_EQ(loops::ToText(gpu.matrices[1]), "16x16x32:u8:i8:i32");
}

TEST(GpuModelTest, Cpus) {
  const GpuModel lanes =
      GpuModel::Of("vulkan1.3+subgroup8+shared32768+invocations1024");
  EXPECT_TRUE(lanes.is_cpu_like);
  EXPECT_EQ(lanes.workgroup_size, 64);
  EXPECT_TRUE(GpuModel::Of("vulkan1.3+cpu+subgroup16").is_cpu_like);
  EXPECT_EQ(GpuModel::Of("vulkan1.3+subgroup4+invocations16").workgroup_size,
            16);
}

}  // namespace
}  // namespace ember::jit
