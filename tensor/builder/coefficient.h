// Finds the coefficient of a variable in an index.
//
//   CoefficientOf(pool, i * 8 + j, i)         // 8
//   CoefficientOf(pool, i * 8 + j, k)         // 0
//   CoefficientOf(pool, mod(i, 4) + j, i)     // nullopt
//
// Thread-safe.
#ifndef EMBER_TENSOR_BUILDER_COEFFICIENT_H_
#define EMBER_TENSOR_BUILDER_COEFFICIENT_H_

#include <cstdint>
#include <optional>

#include "tensor/builder/expression_pool.h"

namespace ember::tensor {

// True if `node` is among the nodes from which `value` is computed. The extent
// of an axis does not count as one of them.
bool DependsOn(const ExpressionPool& pool, NodeId value, NodeId node);

// Returns the coefficient of the variable in an i64 value. Returns 0 if the
// value does not depend on the variable, and nullopt if the value is not a sum
// in which the variable occurs only as a term with a constant coefficient.
std::optional<int64_t> CoefficientOf(const ExpressionPool& pool, NodeId value,
                                     NodeId variable);

}  // namespace ember::tensor

#endif  // EMBER_TENSOR_BUILDER_COEFFICIENT_H_
