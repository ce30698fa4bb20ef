// Ranges of 64-bit integers, with which the compiler proves that index
// expressions are within bounds.
//
//   Interval i{0, 7};
//   i * Interval::Of(4) + Interval{0, 3}  // {0, 31}
//
// An operation whose exact result may not fit 64 bits gives the full range,
// because the value wraps. Both ends are included; low <= high.
#ifndef EMBER_TENSOR_INTERVAL_H_
#define EMBER_TENSOR_INTERVAL_H_

#include <algorithm>
#include <cstdint>

namespace ember::tensor {

struct Interval {
  int64_t low = INT64_MIN;
  int64_t high = INT64_MAX;

  static constexpr Interval Full() { return {}; }
  static constexpr Interval Of(int64_t value) { return {value, value}; }

  constexpr bool IsConstant() const { return low == high; }
  constexpr bool IsFull() const {
    return low == INT64_MIN && high == INT64_MAX;
  }
  constexpr bool Contains(int64_t value) const {
    return low <= value && value <= high;
  }
  constexpr bool Within(Interval outer) const {
    return outer.low <= low && high <= outer.high;
  }
  constexpr bool operator==(const Interval&) const = default;
};

inline Interval Union(Interval a, Interval b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high)};
}
inline Interval Intersect(Interval a, Interval b) {
  const Interval result{std::max(a.low, b.low), std::min(a.high, b.high)};
  return result.low <= result.high ? result
                                   // The intersection is empty if the two facts
                                   // contradict each other; `a` is kept then.
                                   : a;
}

inline Interval operator+(Interval a, Interval b) {
  Interval result;
  if (__builtin_add_overflow(a.low, b.low, &result.low) ||
      __builtin_add_overflow(a.high, b.high, &result.high)) {
    return Interval::Full();
  }
  return result;
}

inline Interval operator-(Interval a, Interval b) {
  Interval result;
  if (__builtin_sub_overflow(a.low, b.high, &result.low) ||
      __builtin_sub_overflow(a.high, b.low, &result.high)) {
    return Interval::Full();
  }
  return result;
}

inline Interval operator*(Interval a, Interval b) {
  int64_t corners[4];
  if (__builtin_mul_overflow(a.low, b.low, &corners[0]) ||
      __builtin_mul_overflow(a.low, b.high, &corners[1]) ||
      __builtin_mul_overflow(a.high, b.low, &corners[2]) ||
      __builtin_mul_overflow(a.high, b.high, &corners[3])) {
    return Interval::Full();
  }
  return {*std::min_element(corners, corners + 4),
          *std::max_element(corners, corners + 4)};
}

// Returns the range of the quotient rounded down. The range is full unless all
// possible divisors are positive.
Interval FloorDivide(Interval a, Interval divisor);
Interval Modulo(Interval a, Interval divisor);

inline Interval Minimum(Interval a, Interval b) {
  return {std::min(a.low, b.low), std::min(a.high, b.high)};
}
inline Interval Maximum(Interval a, Interval b) {
  return {std::max(a.low, b.low), std::max(a.high, b.high)};
}

}  // namespace ember::tensor

#endif  // EMBER_TENSOR_INTERVAL_H_
