// Permutations of dims as `transpose` uses them: result dim i is operand dim
// permutation[i].
//
//   Compose({0,2,3,1}, {0,3,1,2}) == {0,1,2,3}
#ifndef EMBER_COMPILER_PASSES_PERMUTATION_H_
#define EMBER_COMPILER_PASSES_PERMUTATION_H_

#include <cstdint>
#include <vector>

namespace ember::compiler {

using Permutation = std::vector<int64_t>;

inline bool IsIdentity(const Permutation& permutation) {
  for (size_t i = 0; i < permutation.size(); ++i) {
    if (permutation[i] != static_cast<int64_t>(i)) return false;
  }
  return true;
}

inline Permutation Inverse(const Permutation& permutation) {
  Permutation inverse(permutation.size());
  for (size_t i = 0; i < permutation.size(); ++i)
    inverse[permutation[i]] = static_cast<int64_t>(i);
  return inverse;
}

// Returns values[permutation[i]] for each i: the values of the operand's dims,
// in the result's order.
template <typename T>
std::vector<T> Permute(const std::vector<T>& values,
                       const Permutation& permutation) {
  std::vector<T> result;
  result.reserve(permutation.size());
  for (int64_t source : permutation) result.push_back(values[source]);
  return result;
}

// Returns the single permutation of transpose(transpose(x, first), second).
inline Permutation Compose(const Permutation& first,
                           const Permutation& second) {
  return Permute(first, second);
}

}  // namespace ember::compiler

#endif  // EMBER_COMPILER_PASSES_PERMUTATION_H_
