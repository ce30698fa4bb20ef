// Generates random legal loop nests with parameters and inputs. They are used
// to test the text form and the verifier, and to compare back ends with the
// evaluator.
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
  // If true, expressions only have operations that every back end must compute
  // bit for bit: no transcendental functions and powers, and float sums only if
  // they are exact in every order, with and without fused multiply-adds.
  bool exact = true;
  // If true, expressions may have mod and rem of floats, which back ends may
  // decline.
  bool float_remainders = true;
  // If true, expressions may reinterpret integers as floats. Most of these
  // floats are subnormal, and devices may treat them as zero.
  bool bits_as_floats = true;
  // If true, each expression is simplified when it is made.
  bool simplify = true;
  // If false, some conditions and checks that accesses need are left out, so
  // that the verifier must refuse some of the nests.
  bool guarded = true;
  // The sizes and types that matrix products may have. Empty: nests have no
  // matrix loops, because devices may lack them. nullopt: any sizes and types.
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

// Returns a description of the first element in which the outputs differ; empty
// if they are equal bit for bit. All NaNs count as equal, and +0 equals -0.
std::string FirstDifference(const RandomNest& random,
                            const std::vector<std::vector<uint8_t>>& expected,
                            const std::vector<std::vector<uint8_t>>& actual);

}  // namespace ember::loops

#endif  // EMBER_JIT_LOOPS_TESTING_RANDOM_NEST_H_
