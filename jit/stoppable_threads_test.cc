#include "jit/stoppable_threads.h"

#include <signal.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

#include "base/core_set.h"
#include "gtest/gtest.h"
#include "jit/background_thread.h"

namespace ember::jit {
namespace {

using std::chrono::milliseconds;

// Steps that a thread makes after a signal: ThreadSanitizer keeps it back until
// the next call of the system's, which each 64th step makes.
#ifdef __SANITIZE_THREAD__
constexpr int64_t kLate = 64;
#else
constexpr int64_t kLate = 0;
#endif

// A thread that works in sections, as long as it lives.
class Worker {
 public:
  Worker(StoppableThreads& threads, bool in_background)
      : thread_([this, &threads, in_background] {
          if (in_background) EnterBackground();
          while (!ends_) {
            const StoppableThreads::Section section(threads);
            // Long and short ones.
            const int64_t end = steps_ + (steps_ % 2 == 0 ? 1 : 10'000'001);
            while (!ends_ && steps_ < end) Step();
          }
        }) {
    while (steps_ == 0) std::this_thread::yield();
  }
  ~Worker() {
    ends_ = true;
    thread_.join();
  }
  int64_t steps() const { return steps_; }
  // That it was seen on last.
  int core() const { return core_; }
  // Whether it steps within that time.
  bool StepsWithin(milliseconds time) const {
    const int64_t before = steps_ + kLate;
    const auto end = std::chrono::steady_clock::now() + time;
    while (steps_ <= before && std::chrono::steady_clock::now() < end)
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    return steps_ > before;
  }
  // Held for a part of the time, where it cannot be stopped.
  std::mutex mutex;

 private:
  void Step() {
    if (steps_ % 64 == 0) {
      const StoppableThreads::Unstoppable unstoppable;
      const std::lock_guard<std::mutex> lock(mutex);
      for (int i = 0; i < 1000; ++i) idle_ = i;
    }
    core_ = CurrentCore();
    ++steps_;
  }

  std::atomic<int64_t> steps_{0};
  std::atomic<int> idle_{0}, core_{-1};
  std::atomic<bool> ends_{false};
  std::thread thread_;
};

// Well below kLongestStand, well above what a machine is late.
constexpr milliseconds kShort(30), kLong(20'000);

TEST(StoppableThreads, StandStillUntilTheyGoOn) {
  StoppableThreads threads;
  const Worker one(threads, true), other(threads, true);
  for (int i = 0; i < 50; ++i) {
    threads.StandStill();
    EXPECT_FALSE(one.StepsWithin(milliseconds(i % 10 == 0 ? 30 : 1))) << i;
    EXPECT_FALSE(other.StepsWithin(milliseconds(1))) << i;
    threads.GoOn();
    EXPECT_TRUE(one.StepsWithin(kLong)) << i;
    EXPECT_TRUE(other.StepsWithin(kLong)) << i;
  }
}

TEST(StoppableThreads, AreStoppedBySeveral) {
  StoppableThreads threads;
  const Worker worker(threads, true);
  threads.StandStill();
  threads.StandStill();
  threads.GoOn();
  EXPECT_FALSE(worker.StepsWithin(kShort));
  threads.GoOn();
  EXPECT_TRUE(worker.StepsWithin(kLong));
}

TEST(StoppableThreads, RunWhileTheCallerSleeps) {
  StoppableThreads threads;
  const Worker worker(threads, true);
  threads.StandStill();
  // Others of this machine may have the core in some.
  for (int breaks_with_steps = 0; breaks_with_steps < 20;) {
    const int64_t before = worker.steps();
    threads.RunInstead(1'000'000);
    breaks_with_steps += worker.steps() > before;
    EXPECT_FALSE(worker.StepsWithin(milliseconds(1)));
  }
  threads.GoOn();
}

TEST(StoppableThreads, KeepOffACore) {
  if (CoreSet::OfThisThread().count() < 2) GTEST_SKIP() << "one core";
  StoppableThreads threads;
  const Worker worker(threads, true);
  for (int i = 0; i < 20; ++i) {
    const int left = worker.core();
    threads.KeepOff(left);
    // The step that it was in.
    EXPECT_TRUE(worker.StepsWithin(kLong));
    EXPECT_TRUE(worker.StepsWithin(kLong));
    EXPECT_NE(worker.core(), left) << i;
  }
  // Also in the next sections, and after a break on that core.
  const int left = CurrentCore();
  threads.KeepOff(left);
  threads.StandStill();
  threads.RunInstead(1'000'000);
  threads.GoOn();
  for (int i = 0; i < 20; ++i) {
    EXPECT_TRUE(worker.StepsWithin(kLong));
    EXPECT_TRUE(worker.StepsWithin(kLong));
    EXPECT_NE(worker.core(), left) << i;
  }
  threads.KeepOff(-1);
}

// Its sections begin and end all the time, and it gets a core now and then. One
// run in four sees it where callers do wait.
TEST(StoppableThreads, NobodyWaitsForOneWithoutACore) {
  const int cores = CoreSet::OfThisThread().count();
  if (cores < 2) GTEST_SKIP() << "one core";
  StoppableThreads threads;
  std::atomic<bool> ends{false};
  std::vector<std::thread> others;
  std::thread worker([&] {
    EnterBackground();
    while (!ends) const StoppableThreads::Section section(threads);
  });
  // All cores are taken, but for some milliseconds now and then.
  using Clock = std::chrono::steady_clock;
  constexpr milliseconds kTaken(400), kFree(20);
  const Clock::time_point start = Clock::now();
  for (int i = 0; i < cores; ++i) {
    others.emplace_back([&] {
      for (Clock::time_point next = start + kTaken; !ends;
           next += kTaken + kFree) {
        while (Clock::now() < next && !ends) {
        }
        std::this_thread::sleep_until(next + kFree);
      }
    });
  }
  Clock::duration longest{0};
  const Clock::time_point end = start + std::chrono::seconds(4);
  for (int i = 0; Clock::now() < end; ++i) {
    const Clock::time_point begin = Clock::now();
    threads.KeepOff(i % cores);
    longest = std::max(longest, Clock::now() - begin);
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  ends = true;
  for (std::thread& other : others) other.join();
  worker.join();
  // A scheduler's ticks, of others of this machine, too.
  EXPECT_LT(longest, kTaken * 3 / 4);
}

TEST(StoppableThreads, HoldNoLocksOfOthers) {
  StoppableThreads threads;
  Worker worker(threads, true);
  constexpr int kStops = 300;
  int held = 0;
  for (int i = 0; i < kStops; ++i) {
    threads.StandStill();
    if (worker.mutex.try_lock()) {
      worker.mutex.unlock();
    } else {
      ++held;
    }
    threads.GoOn();
    std::this_thread::sleep_for(std::chrono::microseconds(i));
  }
  // It has it for most of the time. Others of this machine may keep it from
  // getting to where it can be stopped.
  EXPECT_LT(held, kStops / 4);
}

TEST(StoppableThreads, LeaveTheHandlerToTheProgram) {
  struct sigaction ours = {};
  {
    StoppableThreads threads;
    const Worker worker(threads, true);
    sigaction(SIGURG, nullptr, &ours);
    signal(SIGURG, SIG_IGN);
    threads.StandStill();
    EXPECT_TRUE(worker.StepsWithin(kLong));
    threads.GoOn();
    sigaction(SIGURG, &ours, nullptr);
    threads.StandStill();
    EXPECT_TRUE(worker.StepsWithin(kLong)) << "it is not tried again";
  }
}

TEST(StoppableThreads, NobodyStandsForever) {
  StoppableThreads threads;
  const Worker worker(threads, true);
  threads.StandStill();
  EXPECT_TRUE(worker.StepsWithin(kLong));
  threads.GoOn();
}

TEST(StoppableThreads, OthersAreLeftAlone) {
  StoppableThreads threads;
  const Worker worker(threads, false);
  threads.StandStill();
  EXPECT_TRUE(worker.StepsWithin(kLong));
  threads.RunInstead(1'000'000);
  threads.GoOn();
}

TEST(StoppableThreads, NobodyStandsAfterTheRelease) {
  StoppableThreads threads;
  const Worker worker(threads, true);
  threads.StandStill();
  EXPECT_FALSE(worker.StepsWithin(kShort));
  threads.Release();
  // Where others take all cores it gets one at times.
  auto shortest = std::chrono::steady_clock::duration::max();
  for (int i = 0; i < 20; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_TRUE(worker.StepsWithin(kLong));
    shortest = std::min(shortest, std::chrono::steady_clock::now() - begin);
    threads.GoOn();
    threads.StandStill();
  }
  EXPECT_LT(shortest, StoppableThreads::kLongestStand / 2);
}

std::atomic<int> program_signals{0};

TEST(StoppableThreadsDeathTest, AProgramsHandlerGetsWhatIsNotOurs) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto program = [] {
    signal(SIGURG, [](int) { ++program_signals; });
    StoppableThreads threads;
    const Worker worker(threads, true);
    threads.StandStill();
    const int of_stops = program_signals;
    raise(SIGURG);
    threads.GoOn();
    _Exit(of_stops * 10 + program_signals);
  };
  EXPECT_EXIT(program(), testing::ExitedWithCode(1), "");
}

}  // namespace
}  // namespace ember::jit
