// Makes random products of small matrices for a nest that is being generated,
// as subgroup loops with matrix loops in them. Internal to
// jit/loops/testing/random_nest.h.
#ifndef EMBER_JIT_LOOPS_TESTING_RANDOM_MATRICES_H_
#define EMBER_JIT_LOOPS_TESTING_RANDOM_MATRICES_H_

#include <cstdint>

#include "jit/loops/analysis/matrix_operation.h"
#include "jit/loops/loop_nest.h"
#include "jit/loops/testing/random_expressions.h"
#include "jit/loops/testing/random_loops.h"

namespace ember::loops {

// The sizes and buffers of a product result = a * b, counted in matrices of
// `type`: each subgroup computes one row of `tiles` matrices of the result, and
// each is a sum of `steps` products.
struct RandomMatrices {
  MatrixType type;
  int64_t subgroups = 1;
  int64_t tiles = 1;
  int64_t steps = 1;
  // For each matrix: true if it is stored by rows; false if by columns.
  bool a_by_rows = true;
  bool b_by_rows = true;
  bool result_by_rows = true;
  // The buffers of the product. a, b and result are task buffers; the
  // accumulators are registers.
  RandomBuffer a, b, accumulators, result;
};

// Chooses the sizes and buffers of a product. Its type is one of `types`, or
// has small sizes if `types` is empty. Sums of products of SmallValues are
// exact in every order. The caller gives the buffers their numbers.
RandomMatrices PlanMatrices(RandomExpressions& make,
                            std::span<const MatrixType> types);

// Returns the statements of the product, which store to every element of
// %result. %a and %b must be filled before.
Block MultiplyMatrices(const RandomMatrices& plan, RandomExpressions& make,
                       RandomLoops& loops, LoopNest& nest);

}  // namespace ember::loops

#endif  // EMBER_JIT_LOOPS_TESTING_RANDOM_MATRICES_H_
