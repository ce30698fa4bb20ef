#include "tools/lib/benchmark/thread_waits.h"

#include <sched.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <thread>

#include "gtest/gtest.h"

namespace ember::tools {
namespace {

TEST(ThreadWaits, OfThreadsThatShareACore) {
  if (!std::filesystem::exists("/proc/self/schedstat"))
    GTEST_SKIP() << "the kernel does not tell";
  const ThreadWaits waits;
  cpu_set_t own, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof(own), &own), 0);
  CPU_ZERO(&one);
  CPU_SET(static_cast<size_t>(sched_getcpu()), &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
  const double before = waits.milliseconds();
  const auto begin = std::chrono::steady_clock::now();
  // The new thread runs on the same core as this one, because it inherits the
  // affinity.
  std::atomic<bool> stops{false};
  std::thread other([&] {
    while (!stops) {
    }
  });
  // The calling thread has to wait for the core whenever the other thread runs
  // on it.
  while (waits.milliseconds() - before < 20) {
  }
  stops = true;
  other.join();
  const double waited = waits.milliseconds() - before;
  // ThreadWaits was made before the other thread, so only the waits of the
  // calling thread count. With both, the sum would exceed the elapsed time.
  const std::chrono::duration<double, std::milli> elapsed =
      std::chrono::steady_clock::now() - begin;
  EXPECT_LE(waited, elapsed.count());
  ASSERT_EQ(sched_setaffinity(0, sizeof(own), &own), 0);
}

}  // namespace
}  // namespace ember::tools
