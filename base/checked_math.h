// Integer arithmetic that returns nullopt on overflow instead of wrapping. It
// is for sizes, offsets and extents that come from files and users.
//
//   std::optional<int64_t> bytes = CheckedMultiply(elements, element_size);
//   if (!bytes) return ResourceExhaustedError(...);
#ifndef EMBER_BASE_CHECKED_MATH_H_
#define EMBER_BASE_CHECKED_MATH_H_

#include <cstdint>
#include <optional>

namespace ember {

inline std::optional<int64_t> CheckedAdd(int64_t a, int64_t b) {
  int64_t result;
  if (__builtin_add_overflow(a, b, &result)) return std::nullopt;
  return result;
}

inline std::optional<int64_t> CheckedSubtract(int64_t a, int64_t b) {
  int64_t result;
  if (__builtin_sub_overflow(a, b, &result)) return std::nullopt;
  return result;
}

inline std::optional<int64_t> CheckedMultiply(int64_t a, int64_t b) {
  int64_t result;
  if (__builtin_mul_overflow(a, b, &result)) return std::nullopt;
  return result;
}

// Returns the value rounded up to a multiple of `multiple`, which is positive.
inline std::optional<int64_t> CheckedRoundUp(int64_t value, int64_t multiple) {
  const int64_t remainder = value % multiple;
  if (remainder == 0) return value;
  return CheckedAdd(value, remainder < 0 ? -remainder : multiple - remainder);
}

// Returns the quotient rounded down; the divisor must be positive.
constexpr int64_t FloorQuotient(int64_t a, int64_t divisor) {
  return a / divisor - (a % divisor < 0);
}
constexpr int64_t FloorRemainder(int64_t a, int64_t divisor) {
  const int64_t remainder = a % divisor;
  return remainder < 0 ? remainder + divisor : remainder;
}

}  // namespace ember

#endif  // EMBER_BASE_CHECKED_MATH_H_
