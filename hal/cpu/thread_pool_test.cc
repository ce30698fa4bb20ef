#include "hal/cpu/thread_pool.h"

#include <pthread.h>
#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <memory>
#include <set>
#include <thread>

#include "base/core_set.h"
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
    // Both must take part: each chunk waits for the other.
    std::atomic<int> arrived = 0;
    pool.Run(2, [&](int64_t, int) {
      arrived.fetch_add(1);
      while (arrived.load() < 2) std::this_thread::yield();
    });
    EXPECT_EQ(arrived.load(), 2);
  }
}

TEST(ThreadPoolTest, LeavesAShareToTheBackground) {
  // Where threads take all cores, one pauses; where they do not, none does.
  const int cores = CoreSet::OfThisThread().count();
  for (const int threads : {1, cores}) {
    ThreadPool pool(threads);
    const auto run = [&] {
      std::atomic<int64_t> sum{0};
      pool.Run(64, [&](int64_t chunk, int) { sum += chunk; });
      EXPECT_EQ(sum, 64 * 63 / 2);
    };
    const BackgroundShare share(&pool, 0.5, 0, nullptr);
    for (int i = 0; i < 1000; ++i) run();
    // After they slept.
    while (pool.sleepers() < threads - 1) std::this_thread::yield();
    run();
  }
}

// How often the calling thread has gone to sleep.
int64_t Sleeps() {
  rusage usage = {};
  EXPECT_EQ(getrusage(RUSAGE_THREAD, &usage), 0);
  return usage.ru_nvcsw;
}

TEST(ThreadPoolTest, AThreadPausesAgainAndAgain) {
  if (CoreSet::OfThisThread().count() != 2) GTEST_SKIP() << "not two cores";
  ThreadPool pool(2);
  using Clock = std::chrono::steady_clock;
  // Pauses of 0.4 ms in every 1.6 ms: done after 16 ms, or later where others
  // have the cores for most of the time.
  constexpr int64_t kEnough = 10;
  std::atomic<int64_t> first{-1}, last{-1};
  const BackgroundShare share(&pool, 0.25, 0, nullptr);
  while (last - first < kEnough) {
    pool.Run(2, [&](int64_t, int worker) {
      const Clock::time_point begin = Clock::now();
      if (worker == 1) {
        last = Sleeps();
        if (first < 0) first = last.load();
      }
      while (Clock::now() - begin < std::chrono::microseconds(20)) {
      }
    });
  }
}

// Notes what is asked of it.
class NotingWork : public BackgroundWork {
 public:
  void StandStill() override {
    EXPECT_FALSE(stands.exchange(true));
    ++stops;
  }
  void GoOn() override { EXPECT_TRUE(stands.exchange(false)); }
  void RunInstead(int64_t ns) override {
    EXPECT_TRUE(stands);
    EXPECT_GT(ns, 0);
    ++breaks;
  }
  void KeepOff(int core) override { left_core = core; }
  std::atomic<bool> stands{false};
  std::atomic<int> stops{0}, breaks{0}, left_core{-1};
};

TEST(ThreadPoolTest, StopsTheBackgroundWhileItIsAwake) {
  const int cores = CoreSet::OfThisThread().count();
  if (cores < 2) GTEST_SKIP() << "one core";
  ThreadPool pool(cores);
  const auto work = std::make_shared<NotingWork>();
  constexpr int kShares = 4;
  const auto run = [&] { pool.Run(10, [&](int64_t, int) {}); };
  for (int i = 0; i < kShares - 1; ++i) {
    {
      const BackgroundShare share(&pool, 0.25, 0, work);
      // With a pause of 0.4 ms in every 1.6 ms.
      const int before = work->breaks;
      // Where others had the caller's core for long, the thread went to sleep.
      for (int job = 0; job < 500 || work->breaks < before + 3 || !work->stands;
           ++job) {
        run();
      }
    }
    // No more jobs come.
    while (work->stands) std::this_thread::yield();
  }
  {
    const BackgroundShare share(&pool, 0.25, 0, work);
    while (!work->stands) run();
  }
  // Jobs of those that wait for nothing.
  while (work->stands) run();
  // Once for many jobs: again only after the thread slept.
  EXPECT_LE(work->stops, pool.sleeps() + kShares);
  // A pool that ends leaves nobody behind.
  {
    ThreadPool other(cores);
    other.LeaveToBackground(0.25, 0, work);
    while (!work->stands) other.Run(1000, [&](int64_t, int) {});
  }
  EXPECT_FALSE(work->stands);
}

TEST(ThreadPoolTest, LeavesOtherCoresToTheBackground) {
  const CoreSet before = CoreSet::OfThisThread();
  if (before.count() < 2) GTEST_SKIP() << "one core";
  ThreadPool pool(1);
  const auto work = std::make_shared<NotingWork>();
  const int core = CurrentCore();
  KeepOn(pthread_self(), CoreSet::Of(core));
  {
    const BackgroundShare share(&pool, 0.25, 0, work);
    pool.Run(2, [&](int64_t, int) {});
  }
  KeepOn(pthread_self(), before);
  EXPECT_EQ(work->left_core, core);
  EXPECT_EQ(work->stops, 0);
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
            0;  // workers differ within one job, so the count must be atomic
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
