#include "hal/cpu/thread_pool.h"

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <memory>
#include <set>
#include <thread>

#include "gtest/gtest.h"

namespace ember::hal {
namespace {

TEST(ThreadPoolTest, OneThreadRunsOnTheCaller) {
  ThreadPool pool(1);
  EXPECT_EQ(pool.worker_count(), 1);
  const std::thread::id caller = std::this_thread::get_id();
  pool.Run(10, [&](int64_t, int worker) {
    EXPECT_EQ(worker, 0);
    EXPECT_EQ(std::this_thread::get_id(), caller);
  });
}

TEST(ThreadPoolTest, ZeroMeansOnePerCore) {
  ThreadPool pool(0);
  EXPECT_EQ(pool.worker_count(),
            std::max(1, static_cast<int>(std::thread::hardware_concurrency())));
}

TEST(ThreadPoolTest, ManyShortJobs) {
  ThreadPool pool(4);
  int64_t expected = 0;
  std::atomic<int64_t> sum = 0;
  for (int job = 0; job < 20000; ++job) {
    const int64_t count = job % 9;
    pool.Run(count, [&](int64_t chunk, int) { sum.fetch_add(chunk + job); });
    for (int64_t chunk = 0; chunk < count; ++chunk) expected += chunk + job;
  }
  EXPECT_EQ(sum.load(), expected);
}

TEST(ThreadPoolTest, WritesAreSeenByTheCaller) {
  ThreadPool pool(3);
  std::vector<int64_t> values(64);
  for (int64_t job = 1; job < 3000; ++job) {
    pool.Run(64, [&](int64_t chunk, int) {
      values[static_cast<size_t>(chunk)] = job * chunk;
    });
    for (int64_t i = 0; i < 64; ++i)
      ASSERT_EQ(values[static_cast<size_t>(i)], job * i);
  }
}

TEST(ThreadPoolTest, WakesSleepingWorkers) {
  ThreadPool pool(2);
  for (int i = 0; i < 5; ++i) {
    while (pool.sleepers() < 1) std::this_thread::yield();
    // Each of the two chunks waits until the other one has started, so the test
    // ends only if the sleeping worker wakes up and takes part.
    std::atomic<int> arrived = 0;
    pool.Run(2, [&](int64_t, int) {
      arrived.fetch_add(1);
      while (arrived.load() < 2) std::this_thread::yield();
    });
    EXPECT_EQ(arrived.load(), 2);
  }
}

TEST(ThreadPoolTest, ConcurrentCallers) {
  ThreadPool pool(2);
  constexpr int kCallers = 4;
  std::vector<std::thread> callers;
  callers.reserve(kCallers);
  std::atomic<int64_t> sum = 0;
  for (int caller = 0; caller < kCallers; ++caller) {
    callers.emplace_back([&] {
      for (int job = 0; job < 1000; ++job) {
        int64_t own =
            // The job's count is atomic, because several workers may add to it.
            0;
        std::atomic<int64_t> count = 0;
        pool.Run(5, [&](int64_t chunk, int) { count.fetch_add(chunk); });
        own = count.load();
        EXPECT_EQ(own, 10);
        sum.fetch_add(own);
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(sum.load(), kCallers * 1000 * 10);
}

}  // namespace
}  // namespace ember::hal
