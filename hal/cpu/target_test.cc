#include "hal/cpu/target.h"

#include <string>

#include "base/target_text.h"
#include "gtest/gtest.h"

namespace ember::hal {
namespace {

TEST(CpuTargetTest, ThisMachineLacksNothingOfItself) {
  EXPECT_EQ(MissingFeatures(HostTarget()), "") << HostTarget();
  EXPECT_GE(TargetText(HostTarget()).Number("cores"), 1);
}

TEST(CpuTargetTest, OtherMachinesAndUnknownFeaturesAreMissing) {
  const std::string kind(TargetText(HostTarget()).name());
  EXPECT_EQ(MissingFeatures(kind), "");
  EXPECT_EQ(MissingFeatures(kind + "+cores=4096+l1=1K"), "");
  EXPECT_EQ(MissingFeatures(kind + "+cores=4+time_travel+warp=9"),
            "time_travel, warp=9");
  EXPECT_EQ(MissingFeatures("z80-cpm+neon"), "z80-cpm");
}

TEST(CpuTargetTest, FeaturesThatCodeAsksFor) {
  EXPECT_EQ(CountFeatures("x86_64-linux"), 0);
  EXPECT_EQ(CountFeatures("aarch64-linux+neon+sve=256+l1=32K+cores=4"), 2);
}

}  // namespace
}  // namespace ember::hal
