// Random products of small matrices for a nest that is being generated:
// subgroup loops with matrix loops. Internal to
// jit/loops/testing/random_nest.h.
#ifndef EMBER_JIT_LOOPS_TESTING_RANDOM_MATRICES_H_
#define EMBER_JIT_LOOPS_TESTING_RANDOM_MATRICES_H_

#include <cstdint>

#include "jit/loops/analysis/matrix_operation.h"
#include "jit/loops/loop_nest.h"
#include "jit/loops/testing/random_expressions.h"
#include "jit/loops/testing/random_loops.h"

namespace ember::loops {

// A plan of result = a * b, in units of matrices of the type: each subgroup
// computes one row of `tiles` matrices, and the sum has `steps` steps.
struct RandomMatrices {
  MatrixType type;
  int64_t subgroups = 1;
  int64_t tiles = 1;
  int64_t steps = 1;
  // True if the matrix is stored by rows; false: by columns.
  bool a_by_rows = true;
  bool b_by_rows = true;
  bool result_by_rows = true;
  // The buffers of the product. a, b and result are task buffers; the
  // accumulators are registers.
  RandomBuffer a, b, accumulators, result;
};

// Plans a product of one of the types, or of small sizes if `types` is empty.
// Sums of SmallValues are exact in every order. The buffers of the plan have no
// numbers yet.
RandomMatrices PlanMatrices(RandomExpressions& make,
                            std::span<const MatrixType> types);

// Returns the statements of the product, which store to every element of
// %result. %a and %b must be filled before.
Block MultiplyMatrices(const RandomMatrices& plan, RandomExpressions& make,
                       RandomLoops& loops, LoopNest& nest);

}  // namespace ember::loops

#endif  // EMBER_JIT_LOOPS_TESTING_RANDOM_MATRICES_H_
