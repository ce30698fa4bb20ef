#include "base/core_set.h"

#include <atomic>
#include <set>
#include <thread>

#include "gtest/gtest.h"

namespace ember {
namespace {

TEST(CoreSet, KnowsItsCores) {
  CoreSet cores = CoreSet::OfThisThread();
  ASSERT_GT(cores.count(), 0);
  const int count = cores.count();
  cores.Remove(-1);
  cores.Remove(1 << 20);
  EXPECT_EQ(cores.count(), count);
  cores.Remove(CurrentCore());
  EXPECT_EQ(cores.count(), count - 1);
}

TEST(CoreSet, ThreadsLeaveTheirCoreAtOnce) {
  const CoreSet all = CoreSet::OfThisThread();
  if (all.count() < 2) GTEST_SKIP() << "one core";
  std::atomic<int> core{-1};
  std::atomic<bool> stops{false};
  std::thread thread([&] {
    while (!stops) core = CurrentCore();
  });
  while (core < 0) std::this_thread::yield();
  for (int i = 0; i < 20; ++i) {
    const int left = core;
    CoreSet others = all;
    others.Remove(left);
    KeepOn(thread.native_handle(), others);
    // What it had read before it left may still be written.
    core = -1;
    std::set<int> seen;
    for (int reads = 0; reads < 3;) {
      const int now = core.exchange(-1);
      if (now < 0) continue;
      if (reads++ > 0) seen.insert(now);
    }
    EXPECT_FALSE(seen.contains(left)) << i;
  }
  stops = true;
  thread.join();
}

}  // namespace
}  // namespace ember
