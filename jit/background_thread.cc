#include "jit/background_thread.h"

#ifdef __linux__
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#endif

namespace ember::jit {

#ifdef __linux__

void EnterBackground() {
  const sched_param no_priority = {};
  constexpr int kLowest = 19;
  if (sched_setscheduler(0, SCHED_IDLE, &no_priority) != 0)
    LowerPriority(kLowest);
  // Who waits for this core has not been looked at since.
  sched_yield();
}

void LowerPriority(int niceness) {
  const auto thread = static_cast<id_t>(syscall(SYS_gettid));
  const int now = getpriority(PRIO_PROCESS, thread);
  // Refused only in a sandbox without the call.
  static_cast<void>(
      setpriority(PRIO_PROCESS, thread, std::min(now + niceness, 19)));
}

ThreadClock ThreadClock::OfThisThread() {
  ThreadClock clock;
  clock.is_known_ = pthread_getcpuclockid(pthread_self(), &clock.clock_) == 0;
  return clock;
}

int64_t ThreadClock::nanoseconds() const {
  timespec time = {};
  if (!is_known_ || clock_gettime(clock_, &time) != 0) return -1;
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

#else

void EnterBackground() {}
void LowerPriority(int) {}
ThreadClock ThreadClock::OfThisThread() { return {}; }
int64_t ThreadClock::nanoseconds() const { return -1; }

#endif

}  // namespace ember::jit
