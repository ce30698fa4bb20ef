#include "tune/measure/interleave.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace ember::tune {
namespace {

// A simulated machine: its clock advances only when simulated work is done, so
// the tests' times are exact.
struct Machine {
  int64_t now = 0;
  int64_t speed = 1;  // nanoseconds that a unit of simulated work takes
  int calls = 0, evictions = 0;

  std::function<void()> Work(int64_t units) {
    return [this, units] {
      now += units * speed;
      ++calls;
    };
  }
  Clock clock() {
    return [this] { return now; };
  }
};

TEST(Interleave, GivesTheRatioOfTimes) {
  Machine machine;
  const Timing timing = Interleave(machine.Work(100'000), machine.Work(80'000),
                                   {}, machine.clock());
  EXPECT_DOUBLE_EQ(timing.ratio, 0.8);
  EXPECT_DOUBLE_EQ(timing.reference_ns, 100'000);
  EXPECT_FALSE(timing.is_hopeless);
  EXPECT_EQ(timing.rounds, InterleaveOptions().most_rounds);
}

TEST(Interleave, AMachineThatSlowsDownDoesNotChangeTheRatio) {
  Machine machine;
  int rounds = 0;
  const auto reference = [&] {
    if (++rounds > 6) machine.speed = 3;
    machine.Work(50'000)();
  };
  const Timing timing =
      Interleave(reference, machine.Work(40'000), {}, machine.clock());
  EXPECT_DOUBLE_EQ(timing.ratio, 0.8);
}

TEST(Interleave, StopsEarlyIfTheCandidateIsHopeless) {
  Machine machine;
  const Timing timing = Interleave(machine.Work(100'000), machine.Work(400'000),
                                   {}, machine.clock());
  EXPECT_TRUE(timing.is_hopeless);
  EXPECT_EQ(timing.rounds, InterleaveOptions().fewest_rounds);
  EXPECT_DOUBLE_EQ(timing.ratio, 4);
}

TEST(Interleave, StopsAfterItsTime) {
  Machine machine;
  const Timing timing = Interleave(
      machine.Work(90'000'000), machine.Work(90'000'000), {}, machine.clock());
  EXPECT_EQ(timing.rounds, InterleaveOptions().fewest_rounds);
}

TEST(Interleave, EvictsBeforeLongCallsOnly) {
  for (const int64_t units : {100, 100'000}) {
    Machine machine;
    InterleaveOptions options;
    options.evict = [&] { ++machine.evictions; };
    Interleave(machine.Work(units), machine.Work(units), options,
               machine.clock());
    EXPECT_EQ(machine.evictions,
              units == 100 ? 0 : 2 * InterleaveOptions().most_rounds);
  }
}

}  // namespace
}  // namespace ember::tune
