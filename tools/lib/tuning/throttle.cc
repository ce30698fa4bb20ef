#include "tools/lib/tuning/throttle.h"

#include <sched.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <thread>
#include <utility>

namespace ember::tools {
namespace {

using Clock = std::chrono::steady_clock;

void SleepUntil(Clock::time_point end,
                const std::function<bool()>& should_stop) {
  constexpr std::chrono::milliseconds kStep{100};
  while (Clock::now() < end) {
    if (should_stop && should_stop()) return;
    std::this_thread::sleep_until(std::min(Clock::now() + kStep, end));
  }
}

}  // namespace

tune::Measure Throttled(tune::Measure measure, double share,
                        std::function<bool()> should_stop) {
  auto busy_since = std::make_shared<Clock::time_point>(Clock::now());
  return [measure = std::move(measure), share,
          should_stop = std::move(should_stop), busy_since](
             std::span<const tune::Trial> trials,
             const std::function<void(size_t, tune::TrialResult)>& done)
             -> Status {
    for (size_t i = 0; i < trials.size(); ++i) {
      EMBER_RETURN_IF_ERROR(
          measure(trials.subspan(i, 1), [&](size_t, tune::TrialResult result) {
            done(i, std::move(result));
          }));
      const Clock::time_point now = Clock::now();
      const auto pause = std::chrono::duration_cast<Clock::duration>(
          (now - *busy_since) * (1 / share - 1));
      SleepUntil(now + pause, should_stop);
      *busy_since = Clock::now();
    }
    return OkStatus();
  };
}

void RunWhenIdle() {
  // Where the kernel refuses the policy, the nice value is what remains.
  setpriority(PRIO_PROCESS, 0, 19);
  const sched_param none{};
  sched_setscheduler(0, SCHED_IDLE, &none);
}

}  // namespace ember::tools
