// A scenario of the C API that calls all that a program with kernels in its
// module calls: reading the module through a callback, an overlay, shapes
// before the run, errors, native kernels, runs here and on the session's own
// thread, outputs in the caller's memory, results, a profile.
//
//   FailAllocations(plan, [] { return NewWholeApiScenario(); });
//
// Of vm/api/testdata/digits_native.vmfb, so that it needs no compiler, and
// sanitizers' builds are those of the runtime alone.
#ifndef EMBER_TESTS_FAULTS_API_SCENARIOS_H_
#define EMBER_TESTS_FAULTS_API_SCENARIOS_H_

#include <memory>

#include "tests/faults/fault_points.h"

namespace ember::tests {

// Reads the module and writes its overlay, so that not every worker does.
void PrepareApiScenarios();

std::unique_ptr<Scenario> NewWholeApiScenario();

}  // namespace ember::tests

#endif  // EMBER_TESTS_FAULTS_API_SCENARIOS_H_
