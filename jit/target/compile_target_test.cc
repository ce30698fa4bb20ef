#include "jit/target/compile_target.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hal/cpu/target.h"
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

// The name that this machine gives itself must describe the same target as
// "host", since it is used on other machines.
TEST(CompileTargetTest, NameOfHostMeansTheHost) {
  const auto host = FindCompileTarget("host");
  ASSERT_TRUE(host.ok()) << host.status().ToString();
  const auto name = NameOfHost();
  ASSERT_TRUE(name.ok()) << name.status().ToString();
  const auto same = FindCompileTarget(*name);
  ASSERT_TRUE(same.ok()) << same.status().ToString();
  EXPECT_EQ(same->target, host->target);
  EXPECT_EQ(same->llvm, host->llvm);
}

TEST(CompileTargetTest, CachesAndCores) {
  const auto target =
      FindCompileTarget("aarch64+l2=2048K+dotprod+l1=64K+cores=8");
  ASSERT_TRUE(target.ok()) << target.status().ToString();
  EXPECT_EQ(target->name, "aarch64+dotprod+l2=2048K+l1=64K+cores=8");
  const CpuModel cpu = CpuModel::Of(target->target);
  EXPECT_EQ(cpu.l1_bytes, 64 << 10);
  EXPECT_EQ(cpu.l2_bytes, 2048 << 10);
  EXPECT_EQ(cpu.l3_bytes, CpuModel().l3_bytes);
  EXPECT_EQ(cpu.cores, 8);
  for (const char* name : {"aarch64+cores=", "aarch64+cores=0",
                           "aarch64+cores=four", "aarch64+cores=-1"}) {
    const auto wrong = FindCompileTarget(name);
    ASSERT_FALSE(wrong.ok()) << name;
    EXPECT_THAT(wrong.status().message(), HasSubstr("as in cores=8; found"));
  }
  EXPECT_THAT(FindCompileTarget("aarch64+l2=big").status().message(),
              HasSubstr("as in l2=1024K; found 'l2=big'"));
}

TEST(CompileTargetTest, C) {
  const auto target = FindCompileTarget("c11+l1=16K");
  ASSERT_TRUE(target.ok()) << target.status().ToString();
  EXPECT_EQ(target->target, "c11+l1=16K");
  EXPECT_EQ(target->llvm, "");
  EXPECT_EQ(CpuModel::Of(target->target).cores, 1);
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
