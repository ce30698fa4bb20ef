#include "jit/target/compile_target.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hal/cpu/cpu_target.h"
#include "jit/target/cpu_model.h"

namespace ember::jit {
namespace {

using ::testing::HasSubstr;

TEST(CompileTargetTest, BasesAndFeatures) {
  const auto v4 = FindCompileTarget("x86-64-v4+vnni+bf16");
  ASSERT_TRUE(v4.ok()) << v4.status().ToString();
  EXPECT_EQ(v4->name, "x86-64-v4+vnni+bf16");
  EXPECT_EQ(v4->llvm, "x86_64-linux-gnu:x86-64-v4+avx512vnni+avx512bf16");
  const CpuModel cpu = CpuModel::Of(v4->target);
  EXPECT_TRUE(cpu.has_byte_dots && cpu.has_bfloat_dots);
  EXPECT_EQ(cpu.cores, 4);
  const auto arm = FindCompileTarget("armv7+neon");
  ASSERT_TRUE(arm.ok());
  EXPECT_EQ(arm->target, "armv7-linux+neon+cores=4");
  EXPECT_EQ(CpuModel::Of(FindCompileTarget("aarch64+sve")->target).vector_bytes,
            32);
}

TEST(CompileTargetTest, HostRunsHere) {
  const auto host = FindCompileTarget("host");
  ASSERT_TRUE(host.ok()) << host.status().ToString();
  EXPECT_EQ(hal::MissingFeatures(host->target), "") << host->target;
}

TEST(CompileTargetTest, OthersAreRefused) {
  for (const char* name : {"", "x86", "x86-64-v4+amx", "x86-64-v2+vnni",
                           "armv7", "aarch64+", "aarch64neon"}) {
    const auto target = FindCompileTarget(name);
    ASSERT_FALSE(target.ok()) << name;
    EXPECT_THAT(target.status().message(),
                HasSubstr("x86-64-v4 (+vnni, +bf16), aarch64"));
  }
}

}  // namespace
}  // namespace ember::jit
