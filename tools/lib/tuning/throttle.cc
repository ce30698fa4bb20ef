#include "tools/lib/tuning/throttle.h"

#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <fstream>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <utility>

namespace ember::tools {
namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

double SecondsOf(clockid_t clock) {
  timespec time{};
  if (clock_gettime(clock, &time) != 0) return 0;
  return static_cast<double>(time.tv_sec) +
         1e-9 * static_cast<double>(time.tv_nsec);
}

// Returns the processor time that this process and its children have used,
// including children that have ended.
double ProcessorSeconds() {
  double seconds = SecondsOf(CLOCK_PROCESS_CPUTIME_ID);
  rusage ended{};
  getrusage(RUSAGE_CHILDREN, &ended);
  for (const timeval& time : {ended.ru_utime, ended.ru_stime}) {
    seconds += static_cast<double>(time.tv_sec) +
               1e-6 * static_cast<double>(time.tv_usec);
  }
  const std::string self = std::to_string(getpid());
  std::ifstream children("/proc/self/task/" + self + "/children");
  for (pid_t child = 0; children >> child;) {
    clockid_t clock{};
    if (clock_getcpuclockid(child, &clock) == 0) seconds += SecondsOf(clock);
  }
  return seconds;
}

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
  // The moment when the last sleep ended, and the processor time used until
  // then.
  struct Start {
    Clock::time_point time = Clock::now();
    double used = ProcessorSeconds();
  };
  auto start = std::make_shared<Start>();
  return [measure = std::move(measure), share,
          should_stop = std::move(should_stop),
          start](std::span<const tune::Trial> trials,
                 const std::function<void(size_t, tune::TrialResult)>& done)
             -> Status {
    for (size_t i = 0; i < trials.size(); ++i) {
      EMBER_RETURN_IF_ERROR(
          measure(trials.subspan(i, 1), [&](size_t, tune::TrialResult result) {
            done(i, std::move(result));
          }));
      const Seconds used(ProcessorSeconds() - start->used);
      SleepUntil(start->time +
                     std::chrono::duration_cast<Clock::duration>(used / share),
                 should_stop);
      *start = Start();
    }
    return OkStatus();
  };
}

void LowerPriority() {
  // A process of this priority gets about a tenth of a core that it shares with
  // one program of normal priority.
  constexpr int kNice = 10;
  setpriority(PRIO_PROCESS, 0, kNice);
}

}  // namespace ember::tools
