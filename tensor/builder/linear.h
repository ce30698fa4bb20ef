// i64 sums as a list of terms: coefficient * node + ... + constant, and their
// simplification. For the builder and the JIT.
#ifndef EMBER_TENSOR_BUILDER_LINEAR_H_
#define EMBER_TENSOR_BUILDER_LINEAR_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "tensor/builder/expression_pool.h"

namespace ember::tensor {

struct LinearTerm {
  NodeId node;
  int64_t coefficient;
};

// A sum of terms and a constant. Coefficients and constant are modulo 2^64, as
// the arithmetic is.
struct LinearSum {
  std::vector<LinearTerm> terms;  // terms; no node twice, no zero coefficient
  int64_t constant = 0;
};

// Splits sums, differences and products by constants into terms. nullopt for
// sums that are too long. by_ranges: a node that has only one value according
// to the pool is replaced by that constant.
std::optional<LinearSum> Linearize(const ExpressionPool& pool, NodeId node,
                                   bool by_ranges = true);
void AddLinear(LinearSum& sum, const LinearSum& other, int64_t scale);

// Returns the sum as an expression, in one canonical form; x floordiv c * c + x
// mod c becomes x.
NodeId BuildLinear(ExpressionPool& pool, LinearSum sum);

// Returns the range of the exact (unwrapped) sum. It is full if the sum may not
// fit; any other range therefore proves that the wrapped value equals the exact
// one.
Interval RangeOfLinear(const ExpressionPool& pool, const LinearSum& sum);

// Return x floordiv divisor and x mod divisor, for a positive constant divisor.
NodeId BuildFloorDivide(ExpressionPool& pool, NodeId x, int64_t divisor);
NodeId BuildModulo(ExpressionPool& pool, NodeId x, int64_t divisor);

}  // namespace ember::tensor

#endif  // EMBER_TENSOR_BUILDER_LINEAR_H_
