// Scenarios of the runtime whose large allocations are tensors: loading a
// module, a first run, another run with other shapes, kernels, the C API.
//
//   FailAllocations(plan, [] { return NewRunScenario(); });
//
// The module multiplies an open number of rows by a constant matrix into an
// arena, goes through a temporary, keeps what is positive (a result whose
// extent is data), sorts each row, and returns all of it.
#ifndef EMBER_TESTS_FAULTS_TENSOR_SCENARIOS_H_
#define EMBER_TESTS_FAULTS_TENSOR_SCENARIOS_H_

#include <memory>

#include "tests/faults/fault_points.h"

namespace ember::tests {

// Makes the module, so that not every worker does.
void PrepareTensorScenarios();

// From a file, and from memory that is not aligned.
std::unique_ptr<Scenario> NewLoadScenario();
// A session is made and run for the first time.
std::unique_ptr<Scenario> NewFirstRunScenario();
// A session that has run before is given other shapes.
std::unique_ptr<Scenario> NewOtherShapesScenario();
// As the first run, with kernels of tier 2 made when they are asked for.
std::unique_ptr<Scenario> NewKernelScenario();
// Loads, runs and reads results through vm/api/ember.h.
std::unique_ptr<Scenario> NewApiScenario();

}  // namespace ember::tests

#endif  // EMBER_TESTS_FAULTS_TENSOR_SCENARIOS_H_
