// Runs numbered cases in worker processes, so that a crash or a hang is a
// counted outcome and the other cases still run.
//
//   SupervisedReport report = RunSupervised({0, 1000}, {}, [] {
//     auto trier = std::make_shared<Trier>();      // once per worker
//     return [trier](int64_t number) { return trier->Try(number); };
//   });
//   report.counts[ChildOutcome::kCrashed], report.findings ...
//
// A worker is a fork of this process, and there is one at a time. It runs cases
// in order until one kills it or it has run `cases_per_worker` of them. The
// process must have one thread when RunSupervised is called, as a fork has only
// the thread that called it. A hang is recognised by the worker's processor
// time, which does not depend on other programs. A worker that waits is killed
// after 60 times as much wall time.
//
// A worker has crashed if it does not end with status 0: a sanitizer's error, a
// leak that is found at the end, a failed check, a signal.
#ifndef EMBER_TESTS_MUTATION_SUPERVISED_H_
#define EMBER_TESTS_MUTATION_SUPERVISED_H_

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace ember::tests {

enum class ChildOutcome : uint8_t {
  // The case changes nothing (a mutant equals the original), so it was not run.
  kSame,
  kRan,      // The case ran to its end without an error.
  kRefused,  // The case was refused with an error before anything ran.
  kLimit,    // The run of the case ended because it exceeded a limit.
  kFailed,   // The run of the case failed with another error.
  // The case failed with kInternal, an error that reports a bug of Ember.
  kInternal,
  kDiffers,  // The results of the case differ from the expected ones.
  kCrashed,
  kTimedOut,
};
inline constexpr int kOutcomeCount = 9;
std::string_view OutcomeName(ChildOutcome outcome);
// True for crashes, hangs, wrong results and our own bugs.
bool IsFinding(ChildOutcome outcome);

struct Finding {
  int64_t number = 0;  // number of the case
  ChildOutcome outcome = ChildOutcome::kCrashed;
  // text about the end, such as "signal 11 (Segmentation fault)"
  std::string how;
};

struct SupervisedReport {
  std::array<int64_t, kOutcomeCount> counts = {};
  std::vector<Finding> findings;

  int64_t operator[](ChildOutcome outcome) const {
    return counts[static_cast<size_t>(outcome)];
  }
  void Add(const SupervisedReport& other);
};

struct CaseRange {
  int64_t begin = 0;
  int64_t end = 0;
  int64_t step = 1;
};

struct SupervisedOptions {
  // Seconds of processor time after which a case counts as hanging.
  double cpu_seconds = 20;
  int64_t cases_per_worker = 5000;
  // Largest address space of a worker in bytes; 0: no limit. It has no effect
  // under sanitizers, which reserve terabytes.
  int64_t address_space = 0;
  // Largest number of findings: after them no further case is run, and the
  // report has fewer cases.
  int64_t most_findings = 100;
};

using Case = std::function<ChildOutcome(int64_t number)>;

// Runs the cases of a range. Calls new_worker in each worker, which returns the
// function that runs the cases.
SupervisedReport RunSupervised(const CaseRange& range,
                               const SupervisedOptions& options,
                               const std::function<Case()>& new_worker);

}  // namespace ember::tests

#endif  // EMBER_TESTS_MUTATION_SUPERVISED_H_
