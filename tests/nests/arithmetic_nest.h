// Arithmetic rows (jit/loops/arithmetic_cases.h) as one nest: each case is
// three phases of all pairs of patterns: one value at a time, and in vectors of
// each number of lanes that the runner names.
//
//   ArithmeticNest test = MakeArithmeticNest(cases, runner);
//   Status status = runner.run(test.nest, {}, test.buffers);
//   std::string wrong = WrongResult(test, runner);
#ifndef EMBER_TESTS_NESTS_ARITHMETIC_NEST_H_
#define EMBER_TESTS_NESTS_ARITHMETIC_NEST_H_

#include <span>
#include <string>
#include <vector>

#include "jit/loops/arithmetic_cases.h"
#include "jit/loops/loop_nest.h"
#include "tests/nests/nest_runner.h"

namespace ember::nests {

struct ArithmeticNest {
  std::vector<loops::ArithmeticCase> cases;
  loops::LoopNest nest;
  // Three operands of each case, then three results of each: those of single
  // values, and those of vectors.
  Contents buffers;
  Contents expected;  // of each case
};

// Operands hold no subnormal numbers where the runner may take them for zero.
ArithmeticNest MakeArithmeticNest(std::span<const loops::ArithmeticCase> cases,
                                  const NestRunner& runner);

// Compares the results in `buffers`: empty, or the first that differs. Where a
// subnormal number is expected and the runner may take it for zero, zero is as
// good.
std::string WrongResult(const ArithmeticNest& test, const NestRunner& runner);

}  // namespace ember::nests

#endif  // EMBER_TESTS_NESTS_ARITHMETIC_NEST_H_
