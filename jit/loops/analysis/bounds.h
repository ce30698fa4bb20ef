// Proves that an index is within an extent, wherever certain facts hold. Sound,
// not complete: false means "not proved".
//
//   // in `for i < N` and `if i * 16 + j < N`
//   ProvablyInBounds(pool, facts, i_times_16_plus_j, n);   // true
//
// A proof has a bounded number of steps and uses:
//   - the ranges of index and extent;
//   - sums of products by constants, over the integers where nothing wraps:
//     it subtracts facts (comparisons that hold, i <= extent - 1) until the
//     ranges of the remaining terms show that the rest is not negative;
//   - x floordiv c is between (x - c + 1) / c and x / c; x mod m is in 0..m - 1;
//     min and max are bounded by their operands; select is one of them;
//   - t floordiv M < N in a loop t < N * M (products of any length). Quotients of
//     quotients too: t floordiv 5 floordiv M < 16 for t < 16 * M * 5.
#ifndef EMBER_JIT_LOOPS_ANALYSIS_BOUNDS_H_
#define EMBER_JIT_LOOPS_ANALYSIS_BOUNDS_H_

#include "jit/loops/analysis/facts.h"

namespace ember::loops {

// True if 0 <= index < extent is proved, or if the facts contradict each other.
// Both nodes are i64.
bool ProvablyInBounds(const tensor::ExpressionPool& pool, const Facts& facts,
                      NodeId index, NodeId extent);

}  // namespace ember::loops

#endif  // EMBER_JIT_LOOPS_ANALYSIS_BOUNDS_H_
