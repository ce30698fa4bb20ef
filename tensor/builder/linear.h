// Represents and simplifies sums of i64 values, as a list of terms: coefficient
// * node + ... + constant. The builder and the JIT use it.
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

// A sum of terms and a constant. Coefficients and constant are modulo 2^64,
// because the i64 arithmetic of a dispatch wraps.
struct LinearSum {
  std::vector<LinearTerm> terms;  // The terms of the sum. No node occurs twice
                                  // and no coefficient is 0.
  int64_t constant = 0;
};

// Splits an expression of sums, differences and products by constants into its
// terms. Returns nullopt if there are too many terms, or if the expression is
// too deep or takes too many steps. If by_ranges, a node whose range in the
// pool is a single value is replaced by that constant.
std::optional<LinearSum> Linearize(const ExpressionPool& pool, NodeId node,
                                   bool by_ranges = true);
void AddLinear(LinearSum& sum, const LinearSum& other, int64_t scale);

// Returns the sum as an expression in canonical form. Pairs of terms x floordiv
// c * c + x mod c are replaced by x.
NodeId BuildLinear(ExpressionPool& pool, LinearSum sum);

// Returns the range of the exact sum, without wrapping. The range is full if
// the sum might not fit 64 bits. So any other range proves that the wrapped sum
// equals the exact one.
Interval RangeOfLinear(const ExpressionPool& pool, const LinearSum& sum);

// BuildFloorDivide returns x floordiv divisor in simplified form, and
// BuildModulo returns x mod divisor. The divisor is a positive constant.
NodeId BuildFloorDivide(ExpressionPool& pool, NodeId x, int64_t divisor);
NodeId BuildModulo(ExpressionPool& pool, NodeId x, int64_t divisor);

}  // namespace ember::tensor

#endif  // EMBER_TENSOR_BUILDER_LINEAR_H_
