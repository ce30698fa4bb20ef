// Puts arithmetic rows (jit/loops/testing/arithmetic_cases.h) into one nest.
// Each case is three phases over all pairs of patterns: one value at a time,
// and in vectors of each number of lanes that the back end names.
//
//   ArithmeticNest test = MakeArithmeticNest(cases, back_end);
//   Status status = back_end.run(test.nest, {}, test.buffers);
//   std::string wrong = WrongResult(test, back_end);
#ifndef EMBER_TESTS_NESTS_ARITHMETIC_NEST_H_
#define EMBER_TESTS_NESTS_ARITHMETIC_NEST_H_

#include <span>
#include <string>
#include <vector>

#include "jit/loops/loop_nest.h"
#include "jit/loops/testing/arithmetic_cases.h"
#include "tests/nests/nest_back_end.h"

namespace ember::nests {

struct ArithmeticNest {
  std::vector<loops::ArithmeticCase> cases;
  loops::LoopNest nest;
  // The buffers' contents: first three operands for each case, then three
  // results for each case. The results are those of single values and of
  // vectors of two sizes.
  Contents buffers;
  Contents expected;  // expected results, one buffer for each case
};

// Makes the nest of the cases. Operands are never subnormal if the back end may
// treat subnormal numbers as zero.
ArithmeticNest MakeArithmeticNest(std::span<const loops::ArithmeticCase> cases,
                                  const NestBackEnd& back_end);

// Compares the results in `buffers` and returns "", or describes the first that
// differs. Zero may replace a subnormal number if the back end may treat it as
// zero.
std::string WrongResult(const ArithmeticNest& test,
                        const NestBackEnd& back_end);

}  // namespace ember::nests

#endif  // EMBER_TESTS_NESTS_ARITHMETIC_NEST_H_
