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

// A linear index: constant + sum of factors[axis] * axis.
struct LinearIndex {
  int64_t constant = 0;
  std::map<size_t, int64_t> factors;
};

// Largest magnitude of a term in a linear index. Sums of a few such terms
// cannot overflow; indices with larger terms are not analysed here, and
// executors check them.
constexpr int64_t kMaxTerm = kMaxExtent;
constexpr bool IsSmall(int64_t term) {
  return term >= -kMaxTerm && term <= kMaxTerm;
}

// Returns the expression as a linear index; nullopt if it has another form, or
// a term for which IsSmall is false.
std::optional<LinearIndex> LinearOf(const Expression& e,
                                    const NotationStatement& statement);

}  // namespace ember::tensor

#endif  // EMBER_TENSOR_NOTATION_LINEAR_INDEX_H_
