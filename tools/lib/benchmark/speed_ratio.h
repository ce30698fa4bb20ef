// Compares two speeds that were measured in rounds, and says how sure the
// comparison is.
//
//   const SpeedRatio ratio = CompareSpeeds({10.0, 10.2, 9.9, 10.1, 10.0},
//                                          {12.1, 12.0, 12.4, 11.9, 12.2});
//   ratio.ratio == 1.208, ratio.low == 1.178, ratio.high == 1.24,
//   ratio.sure == 0.968, ratio.verdict() == "slower"
//
// A round is the median of a process's runs, in milliseconds. Runs of one
// process are not independent of each other, because they share its memory
// addresses and the load of the machine at that moment. Runs of different
// processes are more independent.
//
// The interval is Hodges and Lehmann's, with the level of Mann and Whitney's
// test: the ratios of each round of one side to each round of the other are
// sorted, and as many are left out at both ends as the confidence level allows.
// It assumes nothing about the distribution of times, except that the rounds of
// a side are drawn from one. The level is at least 95% if there are enough
// rounds (four on both sides, or more), and otherwise the largest that the
// rounds can give.
//
// Source: Hollander, Wolfe: Nonparametric Statistical Methods, 4.2 and 4.3.
#ifndef EMBER_TOOLS_LIB_BENCHMARK_SPEED_RATIO_H_
#define EMBER_TOOLS_LIB_BENCHMARK_SPEED_RATIO_H_

#include <string_view>
#include <vector>

namespace ember::tools {

struct SpeedRatio {
  // The time of side `now` divided by the time of side `before`: above 1 is
  // slower.
  double ratio = 1;
  // The confidence interval from `low` to `high` contains the true ratio with
  // the probability `sure`.
  double low = 1, high = 1;
  double sure = 0;

  // Returns "slower" or "faster" if the interval does not contain 1, and
  // "no difference found" otherwise.
  std::string_view verdict() const;
};

// Each list has the times of one side's rounds, which are positive. Neither
// list may be empty.
SpeedRatio CompareSpeeds(const std::vector<double>& before,
                         const std::vector<double>& now);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_BENCHMARK_SPEED_RATIO_H_
