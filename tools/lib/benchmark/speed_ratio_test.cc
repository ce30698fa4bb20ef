#include "tools/lib/benchmark/speed_ratio.h"

#include <cmath>
#include <random>

#include "gtest/gtest.h"

namespace ember::tools {
namespace {

TEST(SpeedRatio, OfTheHeader) {
  const SpeedRatio ratio = CompareSpeeds({10.0, 10.2, 9.9, 10.1, 10.0},
                                         {12.1, 12.0, 12.4, 11.9, 12.2});
  EXPECT_NEAR(ratio.ratio, 1.208, 0.001);
  EXPECT_NEAR(ratio.low, 1.178, 0.001);
  EXPECT_NEAR(ratio.high, 1.24, 0.001);
  // The table of Mann and Whitney's test: P(U <= 1) = 2/252 for 5 and 5, and
  // P(U <= 2) = 4/252.
  EXPECT_NEAR(ratio.sure, 1 - 2 * 4.0 / 252, 1e-12);
  EXPECT_EQ(ratio.verdict(), "slower");
}

TEST(SpeedRatio, Verdicts) {
  const std::vector<double> some = {1.0, 1.1, 1.2, 1.3, 1.4};
  std::vector<double> half;
  for (const double time : some) half.push_back(time / 2);
  EXPECT_EQ(CompareSpeeds(some, half).verdict(), "faster");
  EXPECT_EQ(CompareSpeeds(half, some).verdict(), "slower");
  EXPECT_EQ(CompareSpeeds(some, some).verdict(), "no difference found");
}

// Few rounds can't make the comparison sure, and it says so.
TEST(SpeedRatio, FewRounds) {
  EXPECT_EQ(CompareSpeeds({1}, {2}).sure, 0);
  EXPECT_NEAR(CompareSpeeds({1}, {2, 2.1, 2.2, 2.3, 2.4}).sure, 1 - 2.0 / 6,
              1e-12);
  EXPECT_NEAR(CompareSpeeds({1, 1, 1}, {2, 2, 2}).sure, 0.9, 1e-12);
  EXPECT_GE(CompareSpeeds({1, 1, 1, 1}, {2, 2, 2, 2}).sure, 0.95);
}

// Over many pairs of measurements of equal speed, the interval contains 1 as
// often as it says, with noise that has rare large values like a machine's.
TEST(SpeedRatio, ContainsTheRatioAsOftenAsItSays) {
  std::mt19937 random(42);
  std::lognormal_distribution<double> noise(0.0, 0.1);
  std::bernoulli_distribution is_disturbed(0.1);
  const auto draw = [&] {
    std::vector<double> rounds(5);
    for (double& time : rounds)
      time = noise(random) * (is_disturbed(random) ? 2 : 1);
    return rounds;
  };
  constexpr int kTrials = 4000;
  int contained = 0;
  double sure = 0;
  for (int i = 0; i < kTrials; ++i) {
    const SpeedRatio ratio = CompareSpeeds(draw(), draw());
    contained += ratio.low <= 1 && ratio.high >= 1;
    sure = ratio.sure;
  }
  const double share = static_cast<double>(contained) / kTrials;
  // Three standard deviations of a share of 4000.
  EXPECT_NEAR(share, sure, 3 * std::sqrt(sure * (1 - sure) / kTrials));
}

}  // namespace
}  // namespace ember::tools
