// Proofs that an index is within an extent, wherever certain facts hold. Sound,
// not complete: false means "not proved".
//
//   // in `for i < N` and `if i * 16 + j < N`
//   ProvablyInBounds(pool, facts, i_times_16_plus_j, n);   // true
//
// What is tried, a bounded number of steps of it:
//   - the ranges of index and extent;
//   - sums of products by constants, over the integers where nothing wraps:
//     subtracting facts (comparisons that hold, i <= extent - 1) until what is
//     left is not negative by its ranges;
//   - x floordiv c between (x - c + 1) / c and x / c, x mod m in 0..m - 1, min
//     and max between their operands, select one of them;
//   - t floordiv M < N for a loop t < N * M (products of any length), and so of
//     quotients of quotients: t floordiv 5 floordiv M < 16 for t < 16 * M * 5.
#ifndef EMBER_JIT_LOOPS_BOUNDS_H_
#define EMBER_JIT_LOOPS_BOUNDS_H_

#include "jit/loops/facts.h"

namespace ember::loops {

// True if 0 <= index < extent for sure. Both are i64.
bool ProvablyInBounds(const tensor::ExpressionPool& pool, const Facts& facts,
                      NodeId index, NodeId extent);

}  // namespace ember::loops

#endif  // EMBER_JIT_LOOPS_BOUNDS_H_
