// Finds a power of two that divides a value wherever it is computed. Used for
// proofs that an access is aligned.
//
//   DivisorOf(pool, i * 8 + mod(j * 4, 12))   // 4
#ifndef EMBER_JIT_LOOPS_ANALYSIS_DIVISIBILITY_H_
#define EMBER_JIT_LOOPS_ANALYSIS_DIVISIBILITY_H_

#include <cstdint>

#include "tensor/builder/expression_pool.h"

namespace ember::loops {

// The largest divisor that the functions of this file return. It is also what
// they return for the value 0, which every power of two divides.
inline constexpr int64_t kLargestDivisor = int64_t{1} << 30;

// Returns the largest power of two, up to kLargestDivisor, that divides the
// number.
int64_t PowerOfTwoIn(int64_t number);

// Returns a power of two, up to kLargestDivisor, that divides every value of
// the i64 node, even if computing it wraps. Returns 1 if nothing is known about
// the node.
int64_t DivisorOf(const tensor::ExpressionPool& pool, tensor::NodeId node);

}  // namespace ember::loops

#endif  // EMBER_JIT_LOOPS_ANALYSIS_DIVISIBILITY_H_
