// Scenarios of the runtime whose large allocations are tensors: loading a
// module, a first run, another run with other shapes, kernels, the C API.
//
//   FailAllocations(faults, [] { return NewFirstRunScenario(); });
//
// The module multiplies an open number of rows by a constant matrix into an
// arena, uses a temporary, selects the positive elements (a result whose extent
// depends on data), sorts each row, and returns all of it.
#ifndef EMBER_TESTS_FAULTS_TENSOR_SCENARIOS_H_
#define EMBER_TESTS_FAULTS_TENSOR_SCENARIOS_H_

#include <memory>

#include "tests/faults/fault_points.h"

namespace ember::tests {

// Makes the scenarios' module. It is called once in the parent process, so that
// not every worker makes it again.
void PrepareTensorScenarios();

// The scenario loads a module from a file, and from memory that is not aligned.
std::unique_ptr<Scenario> NewLoadScenario();
// The scenario makes a session and runs it for the first time.
std::unique_ptr<Scenario> NewFirstRunScenario();
// The scenario runs a session again with other shapes.
std::unique_ptr<Scenario> NewOtherShapesScenario();
// The scenario is the first run with kernels of tier 2 that are compiled on
// request.
std::unique_ptr<Scenario> NewKernelScenario();
// The scenario loads, runs and reads results through vm/api/ember.h.
std::unique_ptr<Scenario> NewApiScenario();

}  // namespace ember::tests

#endif  // EMBER_TESTS_FAULTS_TENSOR_SCENARIOS_H_
