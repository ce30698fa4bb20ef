// Simplifies x floordiv d and x mod d where d is not a constant, so that
// reshapes of tensors with symbolic dims become plain indices. Internal to the
// builder.
//
//   for n < N, c < 64:
//   (i * (N * 64) + n * 64 + c) floordiv (N * 64)  ->  i
//   (i * (N * 64) + n * 64 + c) mod (N * 64)       ->  n * 64 + c
//
// x and d must be sums of products of axes and extents. These products are
// assumed to fit 64 bits: each factor is at most kMaxExtent, and executors
// refuse buffers of more than 2^62 bytes and stages of more than 2^62 points.
#ifndef EMBER_TENSOR_BUILDER_SYMBOLIC_DIVISION_H_
#define EMBER_TENSOR_BUILDER_SYMBOLIC_DIVISION_H_

#include <optional>

#include "tensor/builder/expression_pool.h"

namespace ember::tensor {

struct QuotientAndRemainder {
  NodeId quotient;
  NodeId remainder;
};

// Divides x by d symbolically. Returns nullopt if quotient and remainder cannot
// be proved.
std::optional<QuotientAndRemainder> DivideSymbolically(ExpressionPool& pool,
                                                       NodeId x,
                                                       NodeId divisor);

// True if the value is a product of values that are at most as large as an
// extent may be, so that the product can be assumed not to wrap.
bool IsIndexLike(const ExpressionPool& pool, NodeId node);

}  // namespace ember::tensor

#endif  // EMBER_TENSOR_BUILDER_SYMBOLIC_DIVISION_H_
