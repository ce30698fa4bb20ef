#include "base/target_text.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace ember {
namespace {

TEST(TargetTextTest, NameAndFeatures) {
  const TargetText target("x86_64-linux+avx2+l2=1024K+cores=8");
  EXPECT_EQ(target.name(), "x86_64-linux");
  EXPECT_TRUE(target.Has("avx2"));
  EXPECT_TRUE(target.Has("cores"));
  EXPECT_FALSE(target.Has("avx"));
  EXPECT_FALSE(target.Has("x86_64-linux"));
  EXPECT_EQ(target.Number("l2"), 1 << 20);
  EXPECT_EQ(target.Number("cores"), 8);
  EXPECT_EQ(target.Number("l1"), std::nullopt);
  std::vector<std::string> features;
  target.ForEachFeature(
      [&](std::string_view feature) { features.emplace_back(feature); });
  EXPECT_EQ(features,
            (std::vector<std::string>{"avx2", "l2=1024K", "cores=8"}));
}

TEST(TargetTextTest, NumbersBehindNames) {
  const TargetText target(
      "vulkan1.3+subgroup_arithmetic+dot+subgroup32+shared0+sharedx");
  EXPECT_EQ(target.Number("subgroup"), 32);
  EXPECT_EQ(target.Number("dot"), 0);
  EXPECT_EQ(target.Number("shared"), 0);
  EXPECT_EQ(target.Number("do"), std::nullopt);
}

TEST(TargetTextTest, OddTexts) {
  EXPECT_EQ(TargetText("").name(), "");
  EXPECT_FALSE(TargetText("x").Has("x"));
  EXPECT_TRUE(TargetText("x++").Has(""));
  EXPECT_EQ(TargetText("x+l1=K").Number("l1"), std::nullopt);
  EXPECT_EQ(TargetText("x+cores=99999999999999999999").Number("cores"),
            std::nullopt);
  EXPECT_EQ(TargetText("x+l1=9223372036854775807K").Number("l2"), std::nullopt);
}

}  // namespace
}  // namespace ember
