#include "tools/lib/benchmark/speed_ratio.h"

#include <algorithm>
#include <cstddef>

#include "base/check.h"

namespace ember::tools {
namespace {

// The confidence interval misses the true ratio with at most this probability.
constexpr double kMissed = 0.05;
// Largest number of rounds per side that are compared. More would make the
// tables of PairProbabilities large.
constexpr size_t kMaxRounds = 200;

// Returns the distribution of Mann and Whitney's U, for m and n rounds drawn
// from one distribution: element u is the probability that exactly u of the m *
// n pairs (round of the first side, round of the second side) have the larger
// time on the first side.
std::vector<double> PairProbabilities(size_t m, size_t n) {
  // table[j] is the distribution for i rounds of the first side and j of the
  // second. Recursion: the largest time is of the first side with probability i
  // / (i + j). It is then larger than all j times of the second side, which
  // adds j to u.
  std::vector<std::vector<double>> table(n + 1, {1.0});
  for (size_t i = 1; i <= m; ++i) {
    std::vector<std::vector<double>> next(n + 1, {1.0});
    for (size_t j = 1; j <= n; ++j) {
      std::vector<double> sum(i * j + 1, 0.0);
      const double first = static_cast<double>(i) / static_cast<double>(i + j);
      for (size_t u = 0; u < table[j].size(); ++u)
        sum[u + j] += first * table[j][u];
      for (size_t u = 0; u < next[j - 1].size(); ++u)
        sum[u] += (1 - first) * next[j - 1][u];
      next[j] = std::move(sum);
    }
    table = std::move(next);
  }
  return table[n];
}

}  // namespace

std::string_view SpeedRatio::verdict() const {
  if (low > 1) return "slower";
  if (high < 1) return "faster";
  return "no difference found";
}

SpeedRatio CompareSpeeds(const std::vector<double>& before,
                         const std::vector<double>& now) {
  EMBER_CHECK(!before.empty() && !now.empty()) << "a side without rounds";
  const size_t m = std::min(before.size(), kMaxRounds);
  const size_t n = std::min(now.size(), kMaxRounds);
  std::vector<double> ratios;
  for (size_t i = 0; i < m; ++i) {
    for (size_t j = 0; j < n; ++j) ratios.push_back(now[j] / before[i]);
  }
  std::ranges::sort(ratios);
  const std::vector<double> pairs = PairProbabilities(m, n);
  // Removes sorted ratios from both ends, as many as kMissed allows. The
  // remaining ones span the interval.
  size_t left_out = 0;
  double missed = 2 * pairs[0];
  while (2 * (left_out + 1) < ratios.size() &&
         missed + 2 * pairs[left_out + 1] <= kMissed) {
    ++left_out;
    missed += 2 * pairs[left_out];
  }
  const size_t middle = ratios.size() / 2;
  SpeedRatio result;
  result.ratio = ratios.size() % 2 == 1
                     ? ratios[middle]
                     : (ratios[middle - 1] + ratios[middle]) / 2;
  result.low = ratios[left_out];
  result.high = ratios[ratios.size() - 1 - left_out];
  result.sure = std::max(0.0, 1 - missed);
  return result;
}

}  // namespace ember::tools
