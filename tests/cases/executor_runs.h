// The functions behind the rows of executors.cc that are no back ends, each in
// a file of its own.
#ifndef EMBER_TESTS_CASES_EXECUTOR_RUNS_H_
#define EMBER_TESTS_CASES_EXECUTOR_RUNS_H_

#include <string>
#include <vector>

#include "tests/cases/executor.h"

namespace ember::cases {

// tier_zero.cc: the VM's interpreter, with one worker and with three.
Outcome RunTierZero(const Subject& subject, const Run& run,
                    std::vector<Bytes>& buffers);

// nest_evaluator.cc: the definition of loop nests, forwards and backwards,
// parameters open and as constants.
Outcome RunNestEvaluator(const Subject& subject, const Run& run,
                         std::vector<Bytes>& buffers);

}  // namespace ember::cases

#endif  // EMBER_TESTS_CASES_EXECUTOR_RUNS_H_
