// Puts arithmetic rows (jit/loops/testing/arithmetic_cases.h) into one nest.
// Each case is three phases over all pairs of patterns: one value at a time,
// and in vectors of each number of lanes that the runner names.
//
//   ArithmeticNest test = MakeArithmeticNest(cases, runner);
//   Status status = runner.run(test.nest, {}, test.buffers);
//   std::string wrong = WrongResult(test, runner);
#ifndef EMBER_TESTS_NESTS_ARITHMETIC_NEST_H_
#define EMBER_TESTS_NESTS_ARITHMETIC_NEST_H_

#include <span>
#include <string>
#include <vector>

#include "jit/loops/loop_nest.h"
#include "jit/loops/testing/arithmetic_cases.h"
#include "tests/nests/nest_runner.h"

namespace ember::nests {

struct ArithmeticNest {
  std::vector<loops::ArithmeticCase> cases;
  loops::LoopNest nest;
  // The buffers' contents: first three operands for each case, then three
  // results for each case. The results are those of single values and of
  // vectors of two sizes.
  Contents buffers;
  Contents expected;  // expected results of each case
};

// Makes the nest of the cases. Operands are never subnormal if the runner may
// treat subnormal numbers as zero.
ArithmeticNest MakeArithmeticNest(std::span<const loops::ArithmeticCase> cases,
                                  const NestRunner& runner);

// Compares the results in `buffers` and returns "", or describes the first that
// differs. Zero may replace a subnormal number if the runner may treat it as
// zero.
std::string WrongResult(const ArithmeticNest& test, const NestRunner& runner);

}  // namespace ember::nests

#endif  // EMBER_TESTS_NESTS_ARITHMETIC_NEST_H_
