// Tests that a throttled search sleeps so long that it keeps to its share of a
// core.
#include "tools/lib/tuning/throttle.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <ctime>
#include <span>
#include <vector>

namespace ember::tools {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// A fake measurement that uses 20 ms of processor time for each trial.
Status Slow(std::span<const tune::Trial> trials,
            const std::function<void(size_t, tune::TrialResult)>& done) {
  EXPECT_EQ(trials.size(), 1u);
  const std::clock_t end = std::clock() + CLOCKS_PER_SEC / 50;
  while (std::clock() < end) {
  }
  done(0, {});
  return OkStatus();
}

TEST(Throttled, SleepsForTheRest) {
  const tune::Measure measure = Throttled(Slow, 0.2, {});
  std::vector<size_t> done;
  const Clock::time_point start = Clock::now();
  const std::vector<tune::Trial> trials(3);
  ASSERT_TRUE(measure(trials, [&](size_t i, const tune::TrialResult&) {
                done.push_back(i);
              }).ok());
  // Three trials use 3 * 20 ms of processor time. The share is a fifth, so all
  // of it must take at least five times as long. A tenth less is accepted,
  // because the clocks differ by a tick.
  EXPECT_GE(Clock::now() - start, milliseconds(270));
  EXPECT_EQ(done, (std::vector<size_t>{0, 1, 2}));
}

// The share is so small that the sleep would take hours. The test ends only
// because should_stop ends the sleep.
TEST(Throttled, AStopEndsTheSleep) {
  int asked = 0;
  const tune::Measure measure = Throttled(Slow, 1e-6, [&] {
    ++asked;
    return true;
  });
  const std::vector<tune::Trial> trials(1);
  ASSERT_TRUE(measure(trials, [](size_t, const tune::TrialResult&) {}).ok());
  EXPECT_GT(asked, 0);
}

}  // namespace
}  // namespace ember::tools
