// Random products of small matrices of a nest in the making: subgroup loops
// with matrix loops. Internal to jit/loops/random_nest.h.
#ifndef EMBER_JIT_LOOPS_RANDOM_MATRICES_H_
#define EMBER_JIT_LOOPS_RANDOM_MATRICES_H_

#include <cstdint>

#include "jit/loops/loop_nest.h"
#include "jit/loops/matrix_operation.h"
#include "jit/loops/random_expressions.h"
#include "jit/loops/random_loops.h"

namespace ember::loops {

// result = a * b in matrices: each subgroup has so many rows of them, and all
// the columns, in as many tiles; the sum has so many steps.
struct RandomMatrices {
  MatrixType type;
  int64_t subgroups = 1;
  int64_t tiles = 1;
  int64_t steps = 1;
  // Or by columns.
  bool a_by_rows = true;
  bool b_by_rows = true;
  bool result_by_rows = true;
  // Of the task; accumulators are registers.
  RandomBuffer a, b, accumulators, result;
};

// Of the types, or of small ones where there are none. Sums of what SmallValue
// gives are exact in every order. The buffers have no numbers yet.
RandomMatrices PlanMatrices(RandomExpressions& make,
                            std::span<const MatrixType> types);

// Fills %a and %b before, and %result is stored to whole.
Block MultiplyMatrices(const RandomMatrices& plan, RandomExpressions& make,
                       RandomLoops& loops, LoopNest& nest);

}  // namespace ember::loops

#endif  // EMBER_JIT_LOOPS_RANDOM_MATRICES_H_
