// A scenario with all calls of the C API that a program makes whose module has
// kernels: reading the module through a callback, an overlay, shapes before the
// run, errors, native kernels, runs on the caller's and on the session's own
// thread, outputs in the caller's memory, results, a profile.
//
//   FailAllocations(faults, [] { return NewWholeApiScenario(); });
//
// It uses vm/api/testdata/digits_native.vmfb, so that it needs no compiler and
// builds with sanitizers contain the runtime alone.
#ifndef EMBER_TESTS_FAULTS_API_SCENARIOS_H_
#define EMBER_TESTS_FAULTS_API_SCENARIOS_H_

#include <memory>

#include "tests/faults/fault_points.h"

namespace ember::tests {

// Reads the module and writes its overlay once per process, so that not every
// worker does that.
void PrepareApiScenarios();

std::unique_ptr<Scenario> NewWholeApiScenario();

}  // namespace ember::tests

#endif  // EMBER_TESTS_FAULTS_API_SCENARIOS_H_
