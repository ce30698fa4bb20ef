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
  // In the table of Mann and Whitney's test for samples of 5 and 5, P(U <= 1)
  // is 2/252 and P(U <= 2) is 4/252. The interval leaves out the latter at each
  // end.
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

// A side with few rounds cannot give a confidence of 95%. Then `sure` is the
// highest confidence that is possible.
TEST(SpeedRatio, FewRounds) {
  EXPECT_EQ(CompareSpeeds({1}, {2}).sure, 0);
  EXPECT_NEAR(CompareSpeeds({1}, {2, 2.1, 2.2, 2.3, 2.4}).sure, 1 - 2.0 / 6,
              1e-12);
  EXPECT_NEAR(CompareSpeeds({1, 1, 1}, {2, 2, 2}).sure, 0.9, 1e-12);
  EXPECT_GE(CompareSpeeds({1, 1, 1, 1}, {2, 2, 2, 2}).sure, 0.95);
}

// This test compares many pairs of measurements of equal speed. The share of
// intervals that contain the true ratio 1 must equal `sure`. The noise
// sometimes doubles a time, as on a real machine.
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
  // The tolerance is three standard deviations of the share of kTrials trials.
  EXPECT_NEAR(share, sure, 3 * std::sqrt(sure * (1 - sure) / kTrials));
}

}  // namespace
}  // namespace ember::tools
