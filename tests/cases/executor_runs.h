// Declares the functions of those rows of executors.cc that are not back ends.
// Each function has a file of its own.
#ifndef EMBER_TESTS_CASES_EXECUTOR_RUNS_H_
#define EMBER_TESTS_CASES_EXECUTOR_RUNS_H_

#include <string>
#include <vector>

#include "tests/cases/executor.h"

namespace ember::cases {

// Runs the VM's interpreter, with one worker and with three (tier_zero.cc).
Outcome RunTierZero(const Subject& subject, const Run& run,
                    std::vector<Bytes>& buffers);

// Runs the definition of loop nests, in forward and reverse order, with open
// and with constant parameters (nest_evaluator.cc).
Outcome RunNestEvaluator(const Subject& subject, const Run& run,
                         std::vector<Bytes>& buffers);

}  // namespace ember::cases

#endif  // EMBER_TESTS_CASES_EXECUTOR_RUNS_H_
