// Random legal loop nests, with parameters and inputs, for tests: of the text
// form, of the verifier, and of back ends against the evaluator.
//
//   RandomNest random = MakeRandomNest(seed, {});
//   auto expected = random.MakeBuffers(), actual = random.MakeBuffers();
//   Status status = Evaluate(random.nest, random.parameters,
//                            tensor::Pointers(expected));
//   ... run the other executor on `actual`; then
//   std::string difference = FirstDifference(random, expected, actual);
//
// Equal seeds and options give equal nests. Results do not depend on the order
// of tasks, invocations and lanes. Used are all dtypes, all scopes and kinds of
// loops, splits with guards, loops over several dims at once, registers of
// invocations, memory that they share, values that they combine, matrices of
// subgroups, conditions, checks, pads, gathers, scatters, reductions into
// registers, several stores at once, and sometimes extents of 0.
#ifndef EMBER_JIT_LOOPS_RANDOM_NEST_H_
#define EMBER_JIT_LOOPS_RANDOM_NEST_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "jit/loops/loop_nest.h"
#include "jit/loops/matrix_operation.h"
#include "tensor/random_values.h"  // IWYU pragma: export

namespace ember::loops {

struct RandomNestOptions {
  int maximum_phases = 3;
  int maximum_depth = 3;  // of expressions
  // Only what every back end must compute bit for bit: no transcendental
  // functions and powers, sums of floats only where they are exact in every
  // order and fused or not.
  bool exact = true;
  // mod and rem of floats, which back ends may decline.
  bool float_remainders = true;
  // Bits of integers as floats, most of which are subnormal: devices may take
  // those for zero.
  bool bits_as_floats = true;
  // Whether expressions are simplified as they are made.
  bool simplify = true;
  // Without it some conditions and checks are left out that accesses need: the
  // verifier has to find that out.
  bool guarded = true;
  // Sizes and types of the products of matrix loops: empty for no such loops,
  // which devices may lack; nothing for any.
  std::optional<std::vector<MatrixType>> matrices;
};

struct RandomNest {
  uint64_t seed = 0;
  LoopNest nest;
  std::vector<int64_t> parameters;
  std::vector<int64_t> element_counts;  // of inputs and outputs

  // Memory for inputs and outputs, in order, of random contents, the same each
  // time.
  std::vector<std::vector<uint8_t>> MakeBuffers() const;
};

RandomNest MakeRandomNest(uint64_t seed, const RandomNestOptions& options);

// Where the outputs first differ; empty if they are equal bit for bit, all NaNs
// and both zeros counted as equal.
std::string FirstDifference(const RandomNest& random,
                            const std::vector<std::vector<uint8_t>>& expected,
                            const std::vector<std::vector<uint8_t>>& actual);

}  // namespace ember::loops

#endif  // EMBER_JIT_LOOPS_RANDOM_NEST_H_
