#include "tests/mutation/supervised.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/check.h"

namespace ember::tests {
namespace {

constexpr int64_t kNone = -1;
constexpr int64_t kMaxNoted = 64;

// The state of a running worker, in memory that it shares with its supervisor.
struct Progress {
  // Number of the case that is running; kNone if none is.
  std::atomic<int64_t> current;
  // Number of the next case: all earlier ones are finished.
  std::atomic<int64_t> next;
  std::atomic<int64_t> counts[kOutcomeCount];
  // Findings that did not end the worker, such as wrong results, with their
  // cases.
  std::atomic<int64_t> noted_count;
  struct {
    std::atomic<int64_t> number;
    std::atomic<ChildOutcome> outcome;
  } noted[kMaxNoted];
};

class SharedProgress {
 public:
  SharedProgress()
      : progress_(static_cast<Progress*>(
            ::mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {
    EMBER_CHECK(progress_ != MAP_FAILED) << "no memory to share";
    new (progress_) Progress();
  }
  ~SharedProgress() { ::munmap(progress_, sizeof(Progress)); }
  SharedProgress(const SharedProgress&) = delete;
  SharedProgress& operator=(const SharedProgress&) = delete;
  Progress* operator->() const { return progress_; }

 private:
  Progress* const progress_;
};

void SetLimit(int resource, rlim_t value) {
  const rlimit limit = {value, value};
  EMBER_CHECK(::setrlimit(static_cast<__rlimit_resource>(resource), &limit) ==
              0);
}

void RunCases(const CaseRange& range, const SupervisedOptions& options,
              const std::function<Case()>& new_worker,
              const SharedProgress& progress) {
  SetLimit(RLIMIT_CORE, 0);
  if (options.address_space > 0)
    SetLimit(RLIMIT_AS, static_cast<rlim_t>(options.address_space));
  const Case run = new_worker();
  int64_t number = progress->next.load();
  for (int64_t i = 0; i < options.cases_per_worker && number < range.end;
       ++i, number += range.step) {
    progress->current.store(number);
    const ChildOutcome outcome = run(number);
    if (IsFinding(outcome)) {
      const int64_t place = progress->noted_count.fetch_add(1);
      if (place < kMaxNoted) {
        progress->noted[place].number.store(number);
        progress->noted[place].outcome.store(outcome);
      }
    }
    progress->counts[static_cast<size_t>(outcome)].fetch_add(1);
    progress->next.store(number + range.step);
    progress->current.store(kNone);
  }
}

double CpuSecondsOf(pid_t process) {
  clockid_t clock;
  timespec time = {};
  if (::clock_getcpuclockid(process, &clock) != 0 ||
      ::clock_gettime(clock, &time) != 0)
    return 0;
  return static_cast<double>(time.tv_sec) +
         1e-9 * static_cast<double>(time.tv_nsec);
}

// Waits until a worker has ended. Returns true if the worker was killed because
// it hung.
bool Await(pid_t process, double cpu_seconds, const SharedProgress& progress,
           int& status) {
  using Clock = std::chrono::steady_clock;
  int64_t last_next = progress->next.load();
  double cpu_at_change = 0;
  Clock::time_point change = Clock::now();
  while (::waitpid(process, &status, WNOHANG) == 0) {
    const timespec pause = {0, 2'000'000};
    ::nanosleep(&pause, nullptr);
    const int64_t next = progress->next.load();
    if (next != last_next) {
      last_next = next;
      cpu_at_change = CpuSecondsOf(process);
      change = Clock::now();
      continue;
    }
    const std::chrono::duration<double> waited = Clock::now() - change;
    if (waited.count() < cpu_seconds) continue;
    if (waited.count() > 60 * cpu_seconds ||
        CpuSecondsOf(process) - cpu_at_change > cpu_seconds) {
      ::kill(process, SIGKILL);
      ::waitpid(process, &status, 0);
      return true;
    }
  }
  return false;
}

std::string DescribeEnd(int status) {
  if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    return "signal " + std::to_string(signal) + " (" + strsignal(signal) + ")";
  }
  return "exit status " + std::to_string(WEXITSTATUS(status));
}

}  // namespace

std::string_view OutcomeName(ChildOutcome outcome) {
  constexpr std::string_view kNames[kOutcomeCount] = {
      "same",     "ran",     "refused", "limit",    "failed",
      "internal", "differs", "crashed", "timed out"};
  return kNames[static_cast<size_t>(outcome)];
}

bool IsFinding(ChildOutcome outcome) {
  return outcome == ChildOutcome::kInternal ||
         outcome == ChildOutcome::kDiffers ||
         outcome == ChildOutcome::kCrashed ||
         outcome == ChildOutcome::kTimedOut;
}

void SupervisedReport::Add(const SupervisedReport& other) {
  for (size_t i = 0; i < counts.size(); ++i) counts[i] += other.counts[i];
  findings.insert(findings.end(), other.findings.begin(), other.findings.end());
}

SupervisedReport RunSupervised(const CaseRange& range,
                               const SupervisedOptions& options,
                               const std::function<Case()>& new_worker) {
  SupervisedReport report;
  SharedProgress progress;
  progress->next.store(range.begin);
  const auto find = [&](int64_t number, ChildOutcome outcome, std::string how) {
    report.findings.push_back({number, outcome, std::move(how)});
  };
  while (progress->next.load() < range.end &&
         static_cast<int64_t>(report.findings.size()) < options.most_findings) {
    const int64_t first = progress->next.load();
    progress->current.store(kNone);
    progress->noted_count.store(0);
    // Writes buffered text before the fork: otherwise the child would print it
    // a second time.
    std::fflush(nullptr);
    const pid_t process = ::fork();
    EMBER_CHECK(process >= 0) << "cannot fork";
    if (process == 0) {
      RunCases(range, options, new_worker, progress);
      // exit() and not _exit() ends the worker, because sanitizers look for
      // leaks in exit().
      std::exit(0);
    }
    int status = 0;
    const bool hung = Await(process, options.cpu_seconds, progress, status);
    for (int64_t i = 0; i < std::min(progress->noted_count.load(), kMaxNoted);
         ++i)
      find(progress->noted[i].number.load(), progress->noted[i].outcome.load(),
           "the worker continued");
    if (!hung && WIFEXITED(status) && WEXITSTATUS(status) == 0) continue;
    const ChildOutcome outcome =
        hung ? ChildOutcome::kTimedOut : ChildOutcome::kCrashed;
    const int64_t current = progress->current.load();
    if (current == kNone) {
      // The worker ended while no case was running: after its last case, as
      // when a leak is found, or before its first one.
      find(first, outcome,
           DescribeEnd(status) + " of a worker behind the cases from " +
               std::to_string(first) + " on");
      report.counts[static_cast<size_t>(outcome)] += 1;
      // If a worker ends before its first case, the next worker would, too. So
      // no further worker is started.
      if (progress->next.load() == first) break;
      continue;
    }
    find(current, outcome, hung ? "no end" : DescribeEnd(status));
    report.counts[static_cast<size_t>(outcome)] += 1;
    progress->next.store(current + range.step);
  }
  for (size_t i = 0; i < report.counts.size(); ++i)
    report.counts[i] += progress->counts[i].load();
  return report;
}

}  // namespace ember::tests
