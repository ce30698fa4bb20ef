// Simplifies x floordiv d and x mod d where d is not a constant, so that
// reshapes of tensors with symbolic dims become plain indices. Internal to the
// builder.
//
//   for n < N, c < 64:
//   (i * (N * 64) + n * 64 + c) floordiv (N * 64)  ->  i
//   (i * (N * 64) + n * 64 + c) mod (N * 64)       ->  n * 64 + c
//
// Works on sums of products of axes and extents, which are assumed to fit 64
// bits: each factor is at most kMaxExtent, and executors refuse buffers and
// stages of more than 2^62.
#ifndef EMBER_TENSOR_BUILDER_SYMBOLIC_DIVISION_H_
#define EMBER_TENSOR_BUILDER_SYMBOLIC_DIVISION_H_

#include <optional>

#include "tensor/builder/expression_pool.h"

namespace ember::tensor {

struct QuotientAndRemainder {
  NodeId quotient;
  NodeId remainder;
};

// Divides x by d symbolically. Returns nullopt if nothing can be proved.
std::optional<QuotientAndRemainder> DivideSymbolically(ExpressionPool& pool,
                                                       NodeId x,
                                                       NodeId divisor);

// True if the value is a product of values whose size is bounded like an
// extent's, so that it can be assumed not to wrap.
bool IsIndexLike(const ExpressionPool& pool, NodeId node);

}  // namespace ember::tensor

#endif  // EMBER_TENSOR_BUILDER_SYMBOLIC_DIVISION_H_
