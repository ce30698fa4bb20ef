// Returns small programs of one operator each, with the results of the
// specification's formula. In a body %T is the type of the result, %A, %B … are
// those of the inputs, and @helper is a function that doubles.
#ifndef EMBER_TESTS_STABLEHLO_OPERATOR_CASES_H_
#define EMBER_TESTS_STABLEHLO_OPERATOR_CASES_H_

#include <string>
#include <vector>

#include "tests/stablehlo/run_program.h"

namespace ember::tests {

struct OperatorCase {
  std::string body;
  std::vector<Numbers> inputs;
  std::vector<Numbers> results;
  double tolerance = 1e-5;
};

std::string ProgramOf(const OperatorCase& operator_case);

std::vector<OperatorCase> ElementwiseCases();
std::vector<OperatorCase> MovementCases();
std::vector<OperatorCase> RegionCases();
std::vector<OperatorCase> AlgebraCases();

}  // namespace ember::tests

#endif  // EMBER_TESTS_STABLEHLO_OPERATOR_CASES_H_
