// Index expressions that are sums of axes with constant factors: 2 * i + r - 1.
// Internal to the parser of index notation.
#ifndef EMBER_TENSOR_NOTATION_LINEAR_INDEX_H_
#define EMBER_TENSOR_NOTATION_LINEAR_INDEX_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

#include "tensor/notation/statement_parser.h"
#include "tensor/range_rules.h"
#include "tensor/text/expression_parser.h"

namespace ember::tensor {

// constant + sum of factors[axis] * axis
struct LinearIndex {
  int64_t constant = 0;
  std::map<size_t, int64_t> factors;
};

// Larger terms are left to the executors, so that arithmetic on a few terms
// does not overflow.
constexpr int64_t kMaxTerm = kMaxExtent;
constexpr bool IsSmall(int64_t term) {
  return term >= -kMaxTerm && term <= kMaxTerm;
}

// Returns the expression as a sum of axes; nullopt if it has another form, or a
// term that is not small.
std::optional<LinearIndex> LinearOf(const Expression& e,
                                    const NotationStatement& statement);

}  // namespace ember::tensor

#endif  // EMBER_TENSOR_NOTATION_LINEAR_INDEX_H_
