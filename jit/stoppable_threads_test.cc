// Nothing here depends on how busy the machine is: what is to happen is waited
// for without a limit, and what must not happen cannot by itself.
#include "jit/stoppable_threads.h"

#include <signal.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <thread>

#include "base/core_set.h"
#include "gtest/gtest.h"
#include "jit/background_thread.h"

namespace ember::jit {
namespace {

// Steps that a thread makes after a signal: ThreadSanitizer keeps it back until
// the next call of the system's, which each 64th step makes.
#ifdef __SANITIZE_THREAD__
constexpr int64_t kLate = 64;
#else
constexpr int64_t kLate = 0;
#endif

// Longer than any test: who stands goes on when he is told to, and not before.
const StoppableThreads::Options kNoEnd{.longest_stand = std::chrono::hours(100),
                                       .at = {}};

// Between two looks at what is waited for.
void Pause() { std::this_thread::sleep_for(std::chrono::microseconds(100)); }

void AwaitStanding(const StoppableThreads& threads, int count) {
  while (threads.standing() < count) Pause();
}

// It may leave that to a later call.
void KeepOff(StoppableThreads& threads, int core) {
  for (; threads.left_core() != core; Pause()) threads.KeepOff(core);
}

// A thread that works in sections, as long as it lives.
class Worker {
 public:
  Worker(StoppableThreads& threads, bool in_background)
      : thread_([this, &threads, in_background] {
          if (in_background) EnterBackground();
          while (!ends_) {
            const StoppableThreads::Section section(threads);
            // Long and short ones.
            const int64_t end = steps_ + (steps_ % 2 == 0 ? 1 : 1'000'001);
            while (!ends_ && steps_ < end) Step();
          }
        }) {
    while (steps_ == 0) Pause();
  }
  ~Worker() {
    ends_ = true;
    thread_.join();
  }
  int64_t steps() const { return steps_; }
  // That it was seen on last.
  int core() const { return core_; }
  void AwaitStep() const {
    const int64_t before = steps_ + kLate;
    while (steps_ <= before) Pause();
  }
  // Of one that stands: a step would be seen now and then.
  void ExpectNoStep() const {
    const int64_t before = steps_ + kLate;
    for (int i = 0; i < 10; ++i) Pause();
    EXPECT_LE(steps_, before);
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

TEST(StoppableThreads, StandStillUntilTheyGoOn) {
  StoppableThreads threads(kNoEnd);
  const Worker one(threads, true), other(threads, true);
  for (int i = 0; i < 20; ++i) {
    threads.StandStill();
    AwaitStanding(threads, 2);
    one.ExpectNoStep();
    other.ExpectNoStep();
    threads.GoOn();
    one.AwaitStep();
    other.AwaitStep();
  }
}

TEST(StoppableThreads, AreStoppedBySeveral) {
  StoppableThreads threads(kNoEnd);
  const Worker worker(threads, true);
  threads.StandStill();
  threads.StandStill();
  threads.GoOn();
  AwaitStanding(threads, 1);
  worker.ExpectNoStep();
  threads.GoOn();
  worker.AwaitStep();
}

TEST(StoppableThreads, RunWhileTheCallerSleeps) {
  StoppableThreads threads(kNoEnd);
  const Worker worker(threads, true);
  threads.StandStill();
  AwaitStanding(threads, 1);
  // Others of this machine may have the core in some of the short ones.
  int64_t ns = 1'000'000;
  for (int breaks_with_steps = 0; breaks_with_steps < 5;) {
    const int64_t before = worker.steps();
    threads.RunInstead(ns);
    AwaitStanding(threads, 1);
    worker.ExpectNoStep();
    if (worker.steps() > before) {
      ++breaks_with_steps;
    } else {
      ns *= 2;
    }
  }
  threads.GoOn();
}

TEST(StoppableThreads, KeepOffACore) {
  if (CoreSet::OfThisThread().count() < 2) GTEST_SKIP() << "one core";
  StoppableThreads threads(kNoEnd);
  const Worker worker(threads, true);
  const auto expect_off = [&](int core) {
    // The step that it was in.
    worker.AwaitStep();
    worker.AwaitStep();
    EXPECT_NE(worker.core(), core);
  };
  for (int i = 0; i < 10; ++i) {
    const int left = worker.core();
    KeepOff(threads, left);
    expect_off(left);
  }
  // Also in the next sections, and after a break on that core.
  const int left = CurrentCore();
  KeepOff(threads, left);
  threads.StandStill();
  threads.RunInstead(1'000'000);
  threads.GoOn();
  for (int i = 0; i < 10; ++i) expect_off(left);
  KeepOff(threads, -1);
  worker.AwaitStep();
}

// Where others take all cores, a thread of the lowest priority may lose its
// core for seconds anywhere. The test keeps one in each place where somebody
// could come to wait for it: were that so, both would wait forever.
TEST(StoppableThreads, NobodyWaitsForOneWithoutACore) {
  using Moment = StoppableThreads::Moment;
  constexpr int kNowhere = -1;
  std::atomic<int> reached{kNowhere};
  std::atomic<bool> ends{false};
  StoppableThreads threads(
      {.longest_stand = kNoEnd.longest_stand, .at = [&](Moment moment) {
         if (ends) return;
         reached = static_cast<int>(moment);
         while (reached != kNowhere && !ends) Pause();
       }});
  threads.KeepOff(0);
  std::thread worker([&] {
    EnterBackground();
    while (!ends) const StoppableThreads::Section section(threads);
  });
  int counts[2] = {0, 0};
  for (int i = 0; std::min(counts[0], counts[1]) < 5; ++i) {
    while (reached == kNowhere) Pause();
    const auto moment = static_cast<Moment>(reached.load());
    ++counts[static_cast<int>(moment)];
    threads.KeepOff(i / 4 % 2);
    if (moment == Moment::kMayLoseItsCore) {
      threads.StandStill();
      threads.GoOn();
    }
    reached = kNowhere;
  }
  ends = true;
  worker.join();
}

TEST(StoppableThreads, HoldNoLocksOfOthers) {
  StoppableThreads threads(kNoEnd);
  Worker worker(threads, true);
  for (int i = 0; i < 100; ++i) {
    threads.StandStill();
    AwaitStanding(threads, 1);
    // It has it for most of the time that it runs.
    ASSERT_TRUE(worker.mutex.try_lock()) << i;
    worker.mutex.unlock();
    threads.GoOn();
    worker.AwaitStep();
    std::this_thread::sleep_for(std::chrono::microseconds(i));
  }
}

TEST(StoppableThreads, LeaveTheHandlerToTheProgram) {
  struct sigaction ours = {};
  {
    StoppableThreads threads;
    const Worker worker(threads, true);
    sigaction(SIGURG, nullptr, &ours);
    signal(SIGURG, SIG_IGN);
    threads.StandStill();
    worker.AwaitStep();
    threads.GoOn();
    sigaction(SIGURG, &ours, nullptr);
    threads.StandStill();
    worker.AwaitStep();
  }
}

TEST(StoppableThreads, NobodyStandsForever) {
  StoppableThreads threads;
  const Worker worker(threads, true);
  threads.StandStill();
  worker.AwaitStep();
  threads.GoOn();
}

TEST(StoppableThreads, OthersAreLeftAlone) {
  StoppableThreads threads(kNoEnd);
  const Worker worker(threads, false);
  threads.StandStill();
  worker.AwaitStep();
  threads.RunInstead(1'000'000);
  worker.AwaitStep();
  threads.GoOn();
}

TEST(StoppableThreads, NobodyStandsAfterTheRelease) {
  StoppableThreads threads(kNoEnd);
  const Worker worker(threads, true);
  threads.StandStill();
  AwaitStanding(threads, 1);
  worker.ExpectNoStep();
  threads.Release();
  for (int i = 0; i < 5; ++i) {
    worker.AwaitStep();
    threads.GoOn();
    threads.StandStill();
  }
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
