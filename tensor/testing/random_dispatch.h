// Makes random legal dispatches with parameters and inputs. Tests use them for
// the text form, and to compare every executor with the scalar evaluator.
//
//   RandomCase c = MakeRandomCase(seed, {});
//   std::vector<std::vector<uint8_t>> expected = c.MakeBuffers(),
//       actual = c.MakeBuffers();
//   Status status = Evaluate(c.dispatch, c.parameters, Pointers(expected), {});
//   ... run the other executor on `actual`; then
//   // Empty: equal.
//   std::string difference = FirstDifference(c, expected, actual);
//
// Equal seeds and options give equal cases. All loads and stores are in bounds
// for the parameters. The cases use all dtypes, several stages, all combiners
// and updates, folds, pads, gathers, scatters, region stores, extents from
// parameters and products of them, and sometimes extents of 0. Half of the
// cases have operands and results over one grid of extents
// (tensor/testing/random_grid.h), as the stages of models do. Floats may be
// infinite, NaN or, if wanted, subnormal.
#ifndef EMBER_TENSOR_TESTING_RANDOM_DISPATCH_H_
#define EMBER_TENSOR_TESTING_RANDOM_DISPATCH_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tensor/dispatch.h"
#include "tensor/testing/random_values.h"  // IWYU pragma: export

namespace ember::tensor {

struct RandomOptions {
  int maximum_stages = 5;
  int maximum_depth = 4;  // largest depth of random expressions
  // Approximate largest number of elements of a buffer; 7 of 8 cases stay below
  // 4000.
  int64_t largest_elements = 4000;
  // True: the case has only instructions whose result is the same bit for bit
  // on every executor. It has no transcendental functions, and float sums and
  // products only where every order of accumulation is exact. False: results
  // may differ by rounding, and by more where rounding is amplified (by a cast
  // to an integer, or a comparison).
  bool exact = true;
  // True: inputs of some cases have subnormal elements. Not every device
  // supports subnormal numbers.
  bool subnormals = false;
  // True if the builder simplifies expressions. Cases of equal seeds compute
  // the same with either value.
  bool simplify = true;
};

struct RandomCase {
  uint64_t seed = 0;
  Dispatch dispatch;
  std::vector<int64_t> parameters;
  // has_special_values: true if inputs contain infinite, NaN and large floats.
  // has_subnormals: true if inputs contain subnormal floats.
  bool has_special_values = false;
  bool has_subnormals = false;

  // Returns memory for all inputs and outputs, in order. Inputs are random, but
  // the same in each call; outputs are zeros.
  std::vector<std::vector<uint8_t>> MakeBuffers() const;
};

RandomCase MakeRandomCase(uint64_t seed, const RandomOptions& options);

// Returns one line that names the first element in which the outputs differ,
// with its two values. It is empty if the outputs are equal bit for bit; all
// NaNs count as equal, and so do +0 and -0. With a tolerance, elements a and b
// count as equal if |a - b| <= absolute + relative * |a|.
std::string FirstDifference(const RandomCase& random_case,
                            const std::vector<std::vector<uint8_t>>& expected,
                            const std::vector<std::vector<uint8_t>>& actual,
                            double absolute = 0, double relative = 0);

}  // namespace ember::tensor

#endif  // EMBER_TENSOR_TESTING_RANDOM_DISPATCH_H_
