#include "jit/background_thread.h"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "gtest/gtest.h"

namespace ember::jit {
namespace {

int Niceness() {
  return getpriority(PRIO_PROCESS, static_cast<id_t>(gettid()));
}

TEST(BackgroundThread, OfTheCallingThreadOnly) {
  int inside = -1;
  std::thread thread([&] {
    EnterBackground();
    inside = sched_getscheduler(0);
  });
  thread.join();
  EXPECT_EQ(inside, SCHED_IDLE);
  EXPECT_EQ(sched_getscheduler(0), SCHED_OTHER);
}

TEST(BackgroundThread, PrioritiesAreBelowTheThreadsOwn) {
  const int own = Niceness();
  for (const int niceness : {0, 7, 100}) {
    int inside = -100;
    std::thread thread([&] {
      LowerPriority(niceness);
      inside = Niceness();
    });
    thread.join();
    EXPECT_EQ(inside, std::min(own + niceness, 19));
  }
  EXPECT_EQ(Niceness(), own);
}

TEST(ThreadClock, CountsWhatTheThreadRan) {
  const ThreadClock clock = ThreadClock::OfThisThread();
  const int64_t begin = clock.nanoseconds();
  ASSERT_GE(begin, 0);
  // Another runs until it has run for longer than this one, which waits: never,
  // if this clock went on, too.
  std::thread other([&] {
    const ThreadClock own = ThreadClock::OfThisThread();
    const int64_t own_begin = own.nanoseconds();
    while (own.nanoseconds() - own_begin <
           clock.nanoseconds() - begin + 10'000'000) {
    }
  });
  other.join();
  const int64_t waited = clock.nanoseconds();
  while (clock.nanoseconds() < waited + 1'000'000) {
  }
}

}  // namespace
}  // namespace ember::jit
