// Generates random legal loop nests with parameters and inputs. For tests of
// the text form, of the verifier, and of back ends against the evaluator.
//
//   RandomNest random = MakeRandomNest(seed, {});
//   auto expected = random.MakeBuffers(), actual = random.MakeBuffers();
//   Status status = Evaluate(random.nest, random.parameters,
//                            tensor::Pointers(expected));
//   ... run the other executor on `actual`; then
//   std::string difference = FirstDifference(random, expected, actual);
//
// Equal seeds and options give equal nests. Results do not depend on the order
// of tasks, invocations and lanes. Nests use all dtypes, all scopes and kinds
// of loops, splits with guards, loops over several dims at once, registers of
// invocations, memory that they share, values that they combine, matrices of
// subgroups, conditions, checks, pads, gathers, scatters, reductions into
// registers, several stores at once, and sometimes extents of 0.
#ifndef EMBER_JIT_LOOPS_TESTING_RANDOM_NEST_H_
#define EMBER_JIT_LOOPS_TESTING_RANDOM_NEST_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "jit/loops/analysis/matrix_operation.h"
#include "jit/loops/loop_nest.h"
#include "tensor/testing/random_values.h"  // IWYU pragma: export

namespace ember::loops {

struct RandomNestOptions {
  int maximum_phases = 3;
  int maximum_depth = 3;  // largest depth of an expression
  // Makes only operations that every back end must compute bit for bit: no
  // transcendental functions and powers; sums of floats only if they are exact
  // in every order, with and without fused multiply-adds.
  bool exact = true;
  // Makes mod and rem of floats, which back ends may decline.
  bool float_remainders = true;
  // Makes floats from the bits of integers. Most of these floats are subnormal,
  // and devices may treat them as zero.
  bool bits_as_floats = true;
  // Simplifies expressions as they are made.
  bool simplify = true;
  // If false, leaves out some conditions and checks that accesses need, which
  // the verifier has to find.
  bool guarded = true;
  // Sizes and types of the products in matrix loops. Empty: nests have no
  // matrix loops, because devices may lack them. nullopt: products of any sizes
  // and types.
  std::optional<std::vector<MatrixType>> matrices;
};

struct RandomNest {
  uint64_t seed = 0;
  LoopNest nest;
  std::vector<int64_t> parameters;
  // number of elements of each input and output
  std::vector<int64_t> element_counts;

  // Returns memory for inputs and outputs, in order. Its contents are random,
  // but the same at each call.
  std::vector<std::vector<uint8_t>> MakeBuffers() const;
};

RandomNest MakeRandomNest(uint64_t seed, const RandomNestOptions& options);

// Returns a description of the first place where the outputs differ. Empty if
// they are equal bit for bit, where all NaNs are equal and both zeros are
// equal.
std::string FirstDifference(const RandomNest& random,
                            const std::vector<std::vector<uint8_t>>& expected,
                            const std::vector<std::vector<uint8_t>>& actual);

}  // namespace ember::loops

#endif  // EMBER_JIT_LOOPS_TESTING_RANDOM_NEST_H_
