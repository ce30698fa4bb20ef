#include "tools/lib/report/profile.h"

#include <vector>

#include "gtest/gtest.h"

namespace ember::tools {
namespace {

std::vector<vm::SiteProfile> Sites() {
  return {
      {.dispatch = "relu",
       .origin = "Relu_1",
       .instruction = 3,
       .calls = 2,
       .total_ns = 1000,
       .tier_calls = {2, 0, 0},
       .plan = "strip 64"},
      {.dispatch = "conv",
       .origin = "Conv_0",
       .instruction = 5,
       .calls = 2,
       .total_ns = 8000,
       .tier_calls = {2, 0, 0},
       .plan = "contraction m=4\nstrip 8\n"},
      {.dispatch = "relu",
       .origin = "Relu_2",
       .instruction = 7,
       .calls = 2,
       .total_ns = 1000,
       .tier_calls = {2, 0, 0}},
      {.dispatch = "never", .origin = "", .instruction = 9},
  };
}

TEST(ProfileTest, SlowestFirstAndSitesOfOneDispatchTogether) {
  EXPECT_EQ(ProfileText(Sites(), 10),
            "| share  | calls | µs each | tier | dispatch | nodes  | how       "
            "              |\n"
            "| ------ | ----: | ------: | ---- | -------- | ------ | "
            "----------------------- |\n"
            "|  80.0% |     2 |     4.0 | 0    | conv     | Conv_0 | "
            "contraction m=4;strip 8 |\n"
            "|  20.0% |     4 |     0.5 | 0    | relu     | Relu_1 | strip 64  "
            "              |\n"
            "6 calls of 2 dispatches took 0.010 ms.\n");
}

TEST(ProfileTest, LongTablesAreCut) {
  const std::string text = ProfileText(Sites(), 1);
  EXPECT_EQ(text.find("relu"), std::string::npos);
  EXPECT_NE(text.find("1 more dispatches are not shown.\n"), std::string::npos);
}

TEST(ProfileTest, TiersAreCounted) {
  std::vector<vm::SiteProfile> sites = Sites();
  sites[2].tier_calls[0] = 0;
  sites[2].tier_calls[2] = 2;
  const std::string text = ProfileText(sites, 10);
  EXPECT_NE(text.find("| 0: 2, 2: 2 | relu "), std::string::npos) << text;
}

TEST(ProfileTest, TierMix) {
  std::vector<vm::SiteProfile> sites = Sites();
  EXPECT_EQ(TierMix(sites), "tier 0 100%");
  sites[0].calls = 4;
  sites[0].tier_calls[2] = 4;
  sites[0].tier_calls[0] = 0;
  EXPECT_EQ(TierMix(sites), "tier 0 50%, tier 2 50%");
  EXPECT_EQ(TierMix({}), "no dispatches");
}

}  // namespace
}  // namespace ember::tools
