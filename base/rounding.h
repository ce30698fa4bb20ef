// Rounds sizes and counts that are not negative.
//
//   RoundUp(65, 64);            // 128: the next multiple
//   DivideRoundingUp(65, 64);   // 2: how many pieces of 64 hold 65
//
// value + divisor - 1 must fit into the type. For numbers from a file or a
// caller use base/checked_math.h instead.
#ifndef EMBER_BASE_ROUNDING_H_
#define EMBER_BASE_ROUNDING_H_

#include <concepts>
#include <type_traits>

namespace ember {

template <std::integral T>
constexpr T DivideRoundingUp(T value, std::type_identity_t<T> divisor) {
  return (value + divisor - 1) / divisor;
}

template <std::integral T>
constexpr T RoundUp(T value, std::type_identity_t<T> multiple) {
  return DivideRoundingUp(value, multiple) * multiple;
}

}  // namespace ember

#endif  // EMBER_BASE_ROUNDING_H_
