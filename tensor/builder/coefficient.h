// Finds the coefficient of a variable in an index.
//
//   CoefficientOf(pool, i * 8 + j, i)         // 8
//   CoefficientOf(pool, i * 8 + j, k)         // 0
//   CoefficientOf(pool, mod(i, 4) + j, i)     // nothing
//
// Thread-safe.
#ifndef EMBER_TENSOR_BUILDER_COEFFICIENT_H_
#define EMBER_TENSOR_BUILDER_COEFFICIENT_H_

#include <cstdint>
#include <optional>

#include "tensor/builder/expression_pool.h"

namespace ember::tensor {

// True if the value is computed from the node. Extents of axes do not count.
bool DependsOn(const ExpressionPool& pool, NodeId value, NodeId node);

// Returns the variable's coefficient in an i64 value, if the value is a sum in
// which the variable occurs only with that coefficient. 0 if the value does not
// depend on it.
std::optional<int64_t> CoefficientOf(const ExpressionPool& pool, NodeId value,
                                     NodeId variable);

}  // namespace ember::tensor

#endif  // EMBER_TENSOR_BUILDER_COEFFICIENT_H_
