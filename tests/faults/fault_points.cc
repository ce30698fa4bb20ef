#include "tests/faults/fault_points.h"

#include <sys/mman.h>
#include <unistd.h>
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/lsan_interface.h>
#endif

#include <cstdio>
#include <exception>
#include <utility>

#include "base/check.h"
#include "tests/faults/allocations.h"

namespace ember::tests {
namespace {

// Exit statuses of a worker that std::terminate ended: after a small allocation
// failed, after an allocation of tensor data failed, or for another reason.
constexpr int kSmallAllocationFailed = 77;
constexpr int kDataAllocationFailed = 78;
constexpr int kOtherTermination = 79;

// Ends the worker without an allocation, because the state of the program is
// unknown.
[[noreturn]] void EndWorker() {
  const AllocationCounts counts = CurrentAllocationCounts();
  if (counts.failed == 0) ::_exit(kOtherTermination);
  ::_exit(counts.first_failed_bytes < kDataBytes ? kSmallAllocationFailed
                                                 : kDataAllocationFailed);
}

// Returns the number of allocations that the scenario makes when none fails.
int64_t CountPoints(
    const FaultOptions& faults,
    const std::function<std::unique_ptr<Scenario>()>& new_scenario) {
  void* const shared = ::mmap(nullptr, sizeof(int64_t), PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  EMBER_CHECK(shared != MAP_FAILED) << "no memory to share";
  auto* const count = static_cast<int64_t*>(shared);
  const SupervisedReport report = RunSupervised({0, 1}, {}, [&]() -> Case {
    return [&](int64_t) {
      const std::unique_ptr<Scenario> scenario = new_scenario();
      StartAllocationFaults({.least_bytes = faults.least_bytes,
                             .spared_library = faults.spared_library});
      const Status status = scenario->Run();
      *count = StopAllocationFaults().seen;
      if (status.ok()) return ChildOutcome::kRan;
      std::fprintf(stderr, "without faults: %s\n", status.ToString().c_str());
      return ChildOutcome::kFailed;
    };
  });
  const int64_t points = *count;
  ::munmap(shared, sizeof(int64_t));
  EMBER_CHECK(report[ChildOutcome::kRan] == 1)
      << "the scenario fails by itself";
  return points;
}

// Runs the scenario with one failure. `noexcept` hides the handlers of the test
// framework: an exception ends the process, as in a program without exceptions.
ChildOutcome TryPoint(const FaultOptions& faults, int64_t number,
                      Scenario& scenario) noexcept {
  StartAllocationFaults({.fail = number,
                         .stays = faults.stays,
                         .least_bytes = faults.least_bytes,
                         .spared_library = faults.spared_library});
  const Status status = scenario.Run();
  const AllocationCounts counts = StopAllocationFaults();
  // If no allocation failed, the scenario made fewer allocations than in the
  // run that counted them, because of its threads. That is no finding.
  if (counts.failed == 0) return ChildOutcome::kSame;
  const auto report = [&](const char* what, const Status& found) {
    std::fprintf(stderr, "allocation %lld of %zu bytes: %s: %s\n",
                 static_cast<long long>(number), counts.first_failed_bytes,
                 what, found.ToString().c_str());
    return ChildOutcome::kInternal;
  };
  if (!status.ok() && status.code() != StatusCode::kResourceExhausted)
    return report("expected a status of memory", status);
  if (const Status again = scenario.RunAgain(); !again.ok())
    return report("does not work when it is tried again", again);
  return status.ok() ? ChildOutcome::kRan : ChildOutcome::kLimit;
}

// True if no memory is lost, that is, neither freed nor referenced. ASan's leak
// checker decides, and prints where lost memory was allocated. Without ASan
// this is always true.
bool LeavesNothing() {
#if defined(__SANITIZE_ADDRESS__)
  return __lsan_do_recoverable_leak_check() == 0;
#else
  return true;
#endif
}

}  // namespace

void EndByBadAlloc() { ::_exit(kSmallAllocationFailed); }

std::string FaultCounts::Text() const {
  return std::to_string(points) +
         " allocations failed: " + std::to_string(status) +
         " became a status, " + std::to_string(unnoticed) +
         " were done without, " + std::to_string(ended) +
         " ended the process, " + std::to_string(failures()) + " failures";
}

FaultCounts FailAllocations(
    const FaultOptions& faults,
    const std::function<std::unique_ptr<Scenario>()>& new_scenario) {
  const int64_t points = CountPoints(faults, new_scenario);
  SupervisedOptions options;
  options.most_findings = points + 1;
  const SupervisedReport report =
      RunSupervised({1, points + 1, faults.every}, options, [&]() -> Case {
        std::set_terminate(EndWorker);
        return [&](int64_t number) {
          std::unique_ptr<Scenario> scenario = new_scenario();
          const ChildOutcome outcome = TryPoint(faults, number, *scenario);
          scenario = nullptr;
          return LeavesNothing() ? outcome : ChildOutcome::kInternal;
        };
      });
  FaultCounts counts;
  counts.status = report[ChildOutcome::kLimit];
  counts.unnoticed = report[ChildOutcome::kRan];
  for (const Finding& finding : report.findings) {
    if (finding.how ==
        "exit status " + std::to_string(kSmallAllocationFailed)) {
      ++counts.ended;
      continue;
    }
    counts.others.findings.push_back(finding);
  }
  counts.points =
      counts.status + counts.unnoticed + counts.ended + counts.failures();
  return counts;
}

}  // namespace ember::tests
