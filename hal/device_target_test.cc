#include "hal/device_target.h"

#include "gtest/gtest.h"

namespace ember::hal {
namespace {

TEST(DeviceTargetTest, Vulkan) {
  constexpr char kDevice[] =
      "vulkan1.3+f16+int64+subgroup32+shared32768+invocations1024";
  EXPECT_EQ(MissingOnDevice(kDevice, kDevice), "");
  EXPECT_EQ(MissingOnDevice("vulkan1.2+subgroup32+shared16384", kDevice), "");
  EXPECT_EQ(MissingOnDevice("vulkan1.4", kDevice), "vulkan1.4");
  EXPECT_EQ(MissingOnDevice("vulkan1.3+dot+subgroup16+shared65536", kDevice),
            "dot, subgroup16, shared65536");
  EXPECT_EQ(MissingOnDevice("sm_80", kDevice), "sm_80");
  EXPECT_EQ(MissingOnDevice("x86_64-linux", kDevice), "x86_64-linux");
  EXPECT_EQ(MissingOnDevice("vulkan1.3+matrix16x16x16:f16:f16:f32", kDevice),
            "matrix16x16x16:f16:f16:f32");
}

TEST(DeviceTargetTest, LoopsThatADriverEnds) {
  constexpr char kDevice[] = "vulkan1.3+subgroup8+iterations65535";
  EXPECT_EQ(MissingOnDevice("vulkan1.3+iterations65535", kDevice), "");
  EXPECT_EQ(MissingOnDevice("vulkan1.3+iterations100", kDevice), "");
  EXPECT_EQ(MissingOnDevice("vulkan1.3+iterations70000", kDevice),
            "iterations70000");
  EXPECT_EQ(MissingOnDevice("vulkan1.3+subgroup8", kDevice),
            "loops of any length");
  EXPECT_EQ(MissingOnDevice("vulkan1.3+iterations65535", "vulkan1.3"), "");
}

TEST(DeviceTargetTest, Cuda) {
  constexpr char kDevice[] =
      "sm_90a+subgroup32+shared232448+invocations1024+processors132";
  EXPECT_EQ(MissingOnDevice(kDevice, kDevice), "");
  EXPECT_EQ(MissingOnDevice("sm_90a+subgroup32+shared49152+tf32", kDevice), "");
  EXPECT_EQ(
      MissingOnDevice("sm_80+subgroup32+shared166912+processors108", kDevice),
      "");
  EXPECT_EQ(MissingOnDevice("sm_90a+shared232448", "sm_100a+shared232448"),
            "sm_90a");
  EXPECT_EQ(MissingOnDevice("sm_90a", "sm_90+shared232448"), "sm_90a");
  EXPECT_EQ(MissingOnDevice("sm_80", "sm_80+emulated"), "a real device");
  EXPECT_EQ(MissingOnDevice("sm_80+emulated", "sm_80"), "emulated");
}

}  // namespace
}  // namespace ember::hal
