// Runs a scenario again and again in worker processes
// (tests/mutation/supervised.h). Each time another of its allocations fails.
//
// Invariants that must hold (docs/ARCHITECTURE.md, "Invariants"):
//   - An allocation of at least kDataBytes is that of a tensor, as the scenarios'
//     models have few instructions and large tensors. Its failure becomes a
//     status, and what failed works when it is tried again.
//     LLVM's own tables are large, too, but not tensors: they are spared.
//   - The failure of a smaller one, or one of LLVM's, may do the same, or end the
//     process by std::terminate, as the runtime has no exceptions; never in
//     another way.
//   - Under ASan: once the scenario is destroyed, no memory is left.
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

// Ends a worker whose tool has caught std::bad_alloc, as the tool would end. It
// counts as `ended` whatever the allocation's size was.
[[noreturn]] void EndByBadAlloc();

class Scenario {
 public:
  virtual ~Scenario() = default;
  // Called while one allocation fails. Returns the status that a user would
  // see.
  virtual Status Run() = 0;
  // Does the work of Run again with enough memory, in the state that Run has
  // left. It must return OK and have correct results.
  virtual Status RunAgain() = 0;
};

struct FaultCounts {
  int64_t points = 0;  // number of allocations that were made to fail
  int64_t status = 0;  // number of failures that led to a status
  // number of failed allocations after which the scenario still succeeded
  int64_t unnoticed = 0;
  // Number of failures that ended the process, which is allowed for small
  // allocations.
  int64_t ended = 0;
  // Counts and descriptions of all other outcomes, such as crashes and wrong
  // results. They are bugs.
  SupervisedReport others;

  int64_t failures() const {
    return static_cast<int64_t>(others.findings.size());
  }
  std::string Text() const;
};

struct FaultOptions {
  // The following three fields have the meaning of the fields of
  // AllocationFaults with the same names.
  bool stays = false;
  size_t least_bytes = 1;
  const char* spared_library = nullptr;
  // Only every n-th allocation is made to fail, where n is this number.
  int64_t every = 1;
};

// Runs the scenario once for each point. Calls new_scenario before each point,
// without faults. The process must have one thread.
FaultCounts FailAllocations(
    const FaultOptions& faults,
    const std::function<std::unique_ptr<Scenario>()>& new_scenario);

}  // namespace ember::tests

#endif  // EMBER_TESTS_FAULTS_FAULT_POINTS_H_
