// A scenario run again and again, with another of its allocations failing each
// time, in worker processes (tests/mutation/supervised.h).
//
// What must hold (docs/ARCHITECTURE.md, "Invariants"):
//   - An allocation of at least kDataBytes is of a tensor, as the scenarios'
//     models have few instructions and large tensors: it becomes a status, and
//     what failed works when it is tried again.
//     LLVM's own tables are large, too, and no tensors: they are spared.
//   - A smaller one, or one of LLVM's, may do the same, or end the process by std::terminate, as
//     the runtime has no exceptions; never in another way.
//   - Under ASan: once the scenario is gone, nothing is left behind.
#ifndef EMBER_TESTS_FAULTS_FAULT_POINTS_H_
#define EMBER_TESTS_FAULTS_FAULT_POINTS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/status.h"
#include "tests/mutation/supervised.h"

namespace ember::tests {

inline constexpr size_t kDataBytes = 64 << 10;

// For scenarios of tools, which catch std::bad_alloc and end: ends the worker,
// which counts as `ended` whatever the size was.
[[noreturn]] void EndByBadAlloc();

class Scenario {
 public:
  virtual ~Scenario() = default;
  // Called with one allocation failing. Its status is one that a user would
  // see.
  virtual Status Run() = 0;
  // The same with enough memory, on what Run has left: must be OK, with right
  // results.
  virtual Status RunAgain() = 0;
};

struct FaultCounts {
  int64_t points = 0;       // allocations that were made to fail
  int64_t status = 0;       // led to a status
  int64_t unnoticed = 0;    // the scenario did without
  int64_t ended = 0;        // ended the process, which only small ones may
  SupervisedReport others;  // counts and findings that must not be

  int64_t failures() const {
    return static_cast<int64_t>(others.findings.size());
  }
  std::string Text() const;
};

struct FaultPlan {
  // Of AllocationFaults.
  bool stays = false;
  size_t least_bytes = 1;
  const char* spared_library = nullptr;
  int64_t every = 1;  // only every n-th point
};

// new_scenario is called before each point, with no faults. The process must
// have one thread.
FaultCounts FailAllocations(
    const FaultPlan& plan,
    const std::function<std::unique_ptr<Scenario>()>& new_scenario);

}  // namespace ember::tests

#endif  // EMBER_TESTS_FAULTS_FAULT_POINTS_H_
