#include "tools/lib/thread_waits.h"

#include <sched.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "gtest/gtest.h"

namespace ember::tools {
namespace {

void RunFor(std::chrono::milliseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) {
  }
}

TEST(ThreadWaits, OfThreadsThatShareACore) {
  const ThreadWaits waits;
  cpu_set_t own, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof(own), &own), 0);
  CPU_ZERO(&one);
  CPU_SET(static_cast<size_t>(sched_getcpu()), &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
  const double before = waits.milliseconds();
  const auto begin = std::chrono::steady_clock::now();
  // Inherits the core.
  std::atomic<bool> stops{false};
  std::thread other([&] {
    while (!stops) {
    }
  });
  RunFor(std::chrono::milliseconds(100));
  stops = true;
  other.join();
  const double waited = waits.milliseconds() - before;
  // Half of the time; the whole machine may have been away for a part of it.
  EXPECT_GT(waited, 20);
  // Of this thread only, not of the one that came later.
  const std::chrono::duration<double, std::milli> elapsed =
      std::chrono::steady_clock::now() - begin;
  EXPECT_LE(waited, elapsed.count());
  ASSERT_EQ(sched_setaffinity(0, sizeof(own), &own), 0);
}

}  // namespace
}  // namespace ember::tools
