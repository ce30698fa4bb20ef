#include "jit/spirv/target.h"

#include "gtest/gtest.h"

namespace ember::jit::spirv {
namespace {

TEST(TargetTest, ReadsTheTargetString) {
  const Target target = Target::Of(
      "vulkan1.3+f16+int64+storage16+rte32+nan16+subgroup32+shared49152+"
      "invocations1024");
  EXPECT_TRUE(target.i64);
  EXPECT_TRUE(target.storage16);
  EXPECT_FALSE(target.storage8);
  EXPECT_FALSE(target.f64);
  EXPECT_TRUE(target.float32.rte);
  EXPECT_TRUE(target.float16.nan);
  EXPECT_FALSE(target.float32.denorm);
  EXPECT_EQ(target.shared_bytes, 49152);
  EXPECT_EQ(target.invocations, 1024);
  EXPECT_TRUE(target.matrices.empty());
  EXPECT_FALSE(target.vulkan_memory_model);
}

TEST(TargetTest, ReadsProductsOfMatrices) {
  const Target target = Target::Of(
      "vulkan1.3+matrix+vulkan_memory_model+matrix16x8x32:i8:u8:i32+"
      "matrix16x16x16:f16:f16:f32+matrix16x16:f16+subgroup32");
  EXPECT_TRUE(target.vulkan_memory_model);
  EXPECT_EQ(target.matrices.size(), 2u);
  EXPECT_TRUE(
      target.HasMatrix({16, 8, 32, DType::kI8, DType::kU8, DType::kI32}));
  EXPECT_FALSE(
      target.HasMatrix({16, 8, 32, DType::kI8, DType::kI8, DType::kI32}));
  EXPECT_TRUE(
      target.HasMatrix({16, 16, 16, DType::kF16, DType::kF16, DType::kF32}));
}

}  // namespace
}  // namespace ember::jit::spirv
