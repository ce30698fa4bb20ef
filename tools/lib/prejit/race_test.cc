#include "tools/lib/prejit/race.h"

#include <gtest/gtest.h>

#include <vector>

namespace ember::tools {
namespace {

// A fake clock, and functions whose calls advance it by given numbers of
// nanoseconds.
class FakeTime {
 public:
  Clock clock() {
    return [this] { return now_; };
  }
  std::function<void()> Work(std::vector<int64_t> ns) {
    return [this, ns, call = size_t{0}]() mutable {
      now_ += ns[std::min(call++, ns.size() - 1)];
    };
  }

 private:
  int64_t now_ = 0;
};

TEST(RaceTest, ShortCallsAreRepeated) {
  FakeTime time;
  const Lap lap =
      RunLap(time.Work({1000}), time.Work({2000}), {}, time.clock());
  EXPECT_EQ(lap.first_ns, 1000);
  EXPECT_EQ(lap.second_ns, 2000);
  EXPECT_EQ(lap.ratio(), 2);
}

TEST(RaceTest, CallsThatWereDisturbedDoNotCount) {
  FakeTime time;
  // The first two calls of the second side and some later ones take longer, as
  // if another program ran. The smallest time must be found all the same.
  const Lap lap = RunLap(
      time.Work({60'000}),
      time.Work({900'000, 900'000, 500'000, 61'000, 700'000, 60'000, 60'000}),
      {}, time.clock());
  EXPECT_EQ(lap.first_ns, 60'000);
  EXPECT_EQ(lap.second_ns, 60'000);
}

TEST(RaceTest, LongCallsAreMeasuredThreeTimes) {
  FakeTime time;
  int calls = 0;
  const auto work = time.Work({300'000'000});
  const Lap lap = RunLap(
      [&] {
        ++calls;
        work();
      },
      time.Work({1'000'000}), {}, time.clock());
  EXPECT_EQ(lap.first_ns, 300'000'000);
  // The number of calls includes one that fills the caches and one that finds
  // the number of calls per measurement.
  EXPECT_EQ(calls, 2 + 3);
}

TEST(RaceTest, AFindingLosesEachLap) {
  const Lap lost{100, 150}, noise{100, 109}, won{100, 80};
  EXPECT_TRUE(IsFinding(std::vector{lost, lost, lost}, 1.1));
  EXPECT_FALSE(IsFinding(std::vector{lost, noise, lost}, 1.1));
  EXPECT_FALSE(IsFinding(std::vector{lost, lost, won}, 1.1));
  EXPECT_FALSE(IsFinding({}, 1.1));
  EXPECT_EQ(MedianOf(std::vector{lost, won, noise}).second_ns, 109);
}

}  // namespace
}  // namespace ember::tools
