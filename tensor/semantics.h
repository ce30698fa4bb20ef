// Defines every arithmetic instruction: there is one function template for each
// row of the instruction table, with the row's name. The scalar evaluator,
// constant folding and the interpreter all call these functions. Kernels of all
// back ends must give the same results; for transcendental functions, within a
// stated number of ULPs.
//
//   semantics::Add<int8_t>(127, 1) == -128
//   semantics::Modulo<float>(-1, 3) == 2
//
// T is a compute type: bool for the bool dtype, the integer itself for
// integers, float for f32 and what is narrower, double for f64. Results of f16,
// bf16, f8e4m3fn and f8e5m2 are then rounded with Narrow. All functions are
// defined for all values (no undefined behaviour): integers wrap, division by
// zero gives 0.
//
// A value that is too large for a narrow float becomes infinity. f8e4m3fn has
// no infinity, so a value that is too large for it, or infinite, becomes NaN.
// To saturate at the largest finite value, write minimum and maximum before the
// cast: f8e4m3fn(max(min(x, 448.0), -448.0)). Minimum and maximum keep a NaN.
#ifndef EMBER_TENSOR_SEMANTICS_H_
#define EMBER_TENSOR_SEMANTICS_H_

#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "base/dtype.h"
#include "tensor/instructions.h"

namespace ember::tensor::semantics {

// The C++ types that belong to a dtype: Storage is the type of its stored
// elements, and Compute the type in which its arithmetic is done.
template <DType type>
struct TypesOf;
#define EMBER_ROW(name, text, storage, bits, kind)                 \
  template <>                                                      \
  struct TypesOf<DType::k##name> {                                 \
    using Storage = storage;                                       \
    using Compute = std::conditional_t<                            \
        DType::k##name == DType::kBool, bool,                      \
        std::conditional_t<NarrowFloat<storage>, float, storage>>; \
  };
EMBER_FOR_EACH_DTYPE(EMBER_ROW)
#undef EMBER_ROW

// Converts a stored element to its compute type, exactly.
template <NarrowFloat T>
inline float Widen(T value) {
  return ToFloat(value);
}
template <typename T>
  requires std::is_arithmetic_v<T>
constexpr T Widen(T value) {
  return value;
}

// Converts a value of a compute type to the storage type, rounding to nearest
// even.
template <typename Storage, typename Compute>
inline Storage Narrow(Compute value) {
  if constexpr (NarrowFloat<Storage>) {
    return ToNarrowFloat<Storage>(value);
  } else {
    return static_cast<Storage>(value);
  }
}

template <typename T>
concept Float = std::floating_point<T>;
template <typename T>
concept Integer = std::integral<T> && !std::same_as<T, bool>;

// The type in which integer arithmetic wraps: an unsigned type of at least 32
// bits, so that promotion to int cannot overflow (uint16_t * uint16_t would).
template <Integer T>
using Wrapping = std::common_type_t<std::make_unsigned_t<T>, uint32_t>;

// --- unary
// ---------------------------------------------------------------------------------------

template <typename T>
inline T Negate(T a) {
  if constexpr (Float<T>) {
    return -a;
  } else {
    return static_cast<T>(0 - static_cast<Wrapping<T>>(a));
  }
}
template <typename T>
inline T Absolute(T a) {
  if constexpr (Float<T>) {
    return std::fabs(a);
  } else {
    return a < 0 ? Negate(a) : a;
  }
}
template <typename T>
inline T Sign(T a) {
  if constexpr (Float<T>) {
    // A zero or NaN is returned unchanged, so -0 keeps its sign.
    return a > 0 ? T(1) : a < 0 ? T(-1) : a;
  } else {
    return static_cast<T>((a > 0) - (a < 0));
  }
}
template <typename T>
inline T Not(T a) {
  if constexpr (std::is_same_v<T, bool>) {
    return !a;
  } else {
    return static_cast<T>(~a);
  }
}
template <Float T>
inline T Floor(T a) {
  return std::floor(a);
}
template <Float T>
inline T Ceil(T a) {
  return std::ceil(a);
}
template <Float T>
inline T Round(T a) {
  return std::nearbyint(a);  // nearbyint rounds ties to even in the default
                             // rounding mode.
}
template <Float T>
inline T Truncate(T a) {
  return std::trunc(a);
}
template <Float T>
inline T Sqrt(T a) {
  return std::sqrt(a);
}
template <Float T>
inline T Exp(T a) {
  return std::exp(a);
}
template <Float T>
inline T Log(T a) {
  return std::log(a);
}
template <Float T>
inline T Log1p(T a) {
  return std::log1p(a);
}
template <Float T>
inline T Expm1(T a) {
  return std::expm1(a);
}
template <Float T>
inline T Sin(T a) {
  return std::sin(a);
}
template <Float T>
inline T Cos(T a) {
  return std::cos(a);
}
template <Float T>
inline T Tan(T a) {
  return std::tan(a);
}
template <Float T>
inline T Asin(T a) {
  return std::asin(a);
}
template <Float T>
inline T Acos(T a) {
  return std::acos(a);
}
template <Float T>
inline T Atan(T a) {
  return std::atan(a);
}
template <Float T>
inline T Sinh(T a) {
  return std::sinh(a);
}
template <Float T>
inline T Cosh(T a) {
  return std::cosh(a);
}
template <Float T>
inline T Tanh(T a) {
  return std::tanh(a);
}
template <Float T>
inline T Asinh(T a) {
  return std::asinh(a);
}
template <Float T>
inline T Acosh(T a) {
  return std::acosh(a);
}
template <Float T>
inline T Atanh(T a) {
  return std::atanh(a);
}
template <Float T>
inline T Erf(T a) {
  return std::erf(a);
}

// --- classification
// ------------------------------------------------------------------------------

template <Float T>
inline bool IsNan(T a) {
  return a != a;
}
template <Float T>
inline bool IsInfinite(T a) {
  return std::fabs(a) == std::numeric_limits<T>::infinity();
}

// --- binary
// --------------------------------------------------------------------------------------

template <typename T>
inline T Add(T a, T b) {
  if constexpr (Float<T>) {
    return a + b;
  } else {
    return static_cast<T>(static_cast<Wrapping<T>>(a) +
                          static_cast<Wrapping<T>>(b));
  }
}
template <typename T>
inline T Subtract(T a, T b) {
  if constexpr (Float<T>) {
    return a - b;
  } else {
    return static_cast<T>(static_cast<Wrapping<T>>(a) -
                          static_cast<Wrapping<T>>(b));
  }
}
template <typename T>
inline T Multiply(T a, T b) {
  if constexpr (Float<T>) {
    return a * b;
  } else {
    return static_cast<T>(static_cast<Wrapping<T>>(a) *
                          static_cast<Wrapping<T>>(b));
  }
}

// True if the divisor is -1. The machine's division of the smallest integer by
// -1 would trap, so Divide and Remainder handle -1 themselves: for any a the
// quotient is -a and the remainder is 0.
template <Integer T>
inline bool DividesByMinusOne(T b) {
  return std::is_signed_v<T> && b == static_cast<T>(-1);
}
template <typename T>
inline T Divide(T a, T b) {
  if constexpr (Float<T>) {
    return a / b;
  } else {
    if (b == 0) return 0;
    return DividesByMinusOne(b) ? Negate(a) : static_cast<T>(a / b);
  }
}
template <typename T>
inline T Remainder(T a, T b) {
  if constexpr (Float<T>) {
    return std::fmod(a, b);
  } else {
    return b == 0 || DividesByMinusOne(b) ? T(0) : static_cast<T>(a % b);
  }
}
template <Integer T>
inline T FloorDivide(T a, T b) {
  const T quotient = Divide(a, b);
  const T remainder = Remainder(a, b);
  return static_cast<T>(quotient -
                        (remainder != 0 && (remainder < 0) != (b < 0)));
}
template <typename T>
inline T Modulo(T a, T b) {
  const T remainder = Remainder(a, b);
  if constexpr (Float<T>) {
    if (remainder == 0) return std::copysign(T(0), b);
    return (remainder < 0) != (b < 0) ? remainder + b : remainder;
  } else {
    return remainder != 0 && (remainder < 0) != (b < 0) ? Add(remainder, b)
                                                        : remainder;
  }
}
template <typename T>
inline T Power(T a, T b) {
  if constexpr (Float<T>) {
    return std::pow(a, b);
  } else {
    if (b < 0) {  // For a negative exponent the result is 1 / a^|b|, which
                  // rounds to 0 unless a is 1 or -1.
      if (a == 1) return 1;
      if (DividesByMinusOne(a)) return (b & 1) ? a : T(1);
      return 0;
    }
    T result = 1;
    for (std::make_unsigned_t<T> n = static_cast<std::make_unsigned_t<T>>(b);
         n != 0; n >>= 1) {
      if (n & 1) result = Multiply(result, a);
      a = Multiply(a, a);
    }
    return result;
  }
}
// Returns the smaller value. If the values are equal (+0 and -0 are), returns
// a. If one is NaN, returns the NaN; if both are, returns the first.
template <typename T>
inline T Minimum(T a, T b) {
  if constexpr (Float<T>) {
    if (a != a) return a;
    if (b != b) return b;
  }
  return b < a ? b : a;
}
template <typename T>
inline T Maximum(T a, T b) {
  if constexpr (Float<T>) {
    if (a != a) return a;
    if (b != b) return b;
  }
  return a < b ? b : a;
}
template <Float T>
inline T Atan2(T a, T b) {
  return std::atan2(a, b);
}
template <typename T>
inline T And(T a, T b) {
  return static_cast<T>(a & b);
}
template <typename T>
inline T Or(T a, T b) {
  return static_cast<T>(a | b);
}
template <typename T>
inline T Xor(T a, T b) {
  return static_cast<T>(a ^ b);
}
template <Integer T>
inline bool IsShiftInRange(T b) {
  return b >= 0 && static_cast<std::make_unsigned_t<T>>(b) < 8 * sizeof(T);
}
template <Integer T>
inline T ShiftLeft(T a, T b) {
  return IsShiftInRange(b) ? static_cast<T>(static_cast<Wrapping<T>>(a) << b)
                           : T(0);
}
template <Integer T>
inline T ShiftRight(T a, T b) {
  return IsShiftInRange(b) ? static_cast<T>(a >> b)
                           : static_cast<T>(a < 0 ? -1 : 0);
}

// --- comparisons
// ---------------------------------------------------------------------------------

template <typename T>
inline bool Equal(T a, T b) {
  return a == b;
}
template <typename T>
inline bool NotEqual(T a, T b) {
  return a != b;
}
template <typename T>
inline bool Less(T a, T b) {
  return a < b;
}
template <typename T>
inline bool LessEqual(T a, T b) {
  return a <= b;
}

// --- conversions and choice
// ----------------------------------------------------------------------

template <typename T>
inline T Select(bool condition, T if_true, T if_false) {
  return condition ? if_true : if_false;
}

// Converts a float to an integer: rounds toward zero and saturates; NaN gives
// 0.
template <Integer To, Float From>
inline To FloatToInteger(From value) {
  // kEnd is 2^bits and kLow is 0 or -2^bits, where `bits` is the number of
  // value bits; every float type represents them exactly. The largest integer,
  // 2^bits - 1, may not be exact in a float.
  constexpr From kEnd =
      static_cast<From>(std::numeric_limits<To>::max() / 2 + 1) * 2;
  constexpr From kLow = static_cast<From>(std::numeric_limits<To>::min());
  if (value != value) return 0;
  if (value >= kEnd) return std::numeric_limits<To>::max();
  if (value <= kLow) return std::numeric_limits<To>::min();
  return static_cast<To>(value);
}

// Converts a 64-bit integer to a double such that rounding the double to a
// narrow float gives the correctly rounded result: the lowest bit of the
// double's mantissa is set if any bits did not fit ("round to odd").
template <Integer From>
inline double IntegerToOddDouble(From value) {
  if constexpr (sizeof(From) < 8) {
    return static_cast<double>(value);
  } else {
    const bool negative = value < 0;
    const uint64_t raw = static_cast<uint64_t>(value);
    const uint64_t magnitude = negative ? 0 - raw : raw;
    double result = static_cast<double>(magnitude);
    if (magnitude >> 53) {
      result =
          static_cast<double>((magnitude >> 11) | ((magnitude & 0x7ff) != 0)) *
          2048.0;
    }
    return negative ? -result : result;
  }
}

// Converts a value of any type to a double, such that rounding the double to a
// narrow float gives the same as rounding the value directly.
template <typename From>
inline double ToOddDouble(From value) {
  if constexpr (Integer<From>) {
    return IntegerToOddDouble(value);
  } else {
    return static_cast<double>(value);
  }
}

// Converts a value as the instruction Cast does. To is a storage type (bool for
// the bool dtype), From a compute type.
template <typename To, typename From>
inline To Cast(From value) {
  if constexpr (std::is_same_v<To, bool>) {
    return value != 0;
  } else if constexpr (Integer<To> && Float<From>) {
    return FloatToInteger<To>(value);
  } else if constexpr (NarrowFloat<To>) {
    return Narrow<To>(ToOddDouble(value));
  } else {
    return static_cast<To>(value);
  }
}

}  // namespace ember::tensor::semantics

// This namespace names the function of each row of the instruction table, so a
// row without a function does not compile.
namespace ember::tensor::semantics_check {
#define EMBER_ROW(name, ...) using semantics::name;
EMBER_FOR_EACH_UNARY_INSTRUCTION(EMBER_ROW)
EMBER_FOR_EACH_CLASSIFY_INSTRUCTION(EMBER_ROW)
EMBER_FOR_EACH_BINARY_INSTRUCTION(EMBER_ROW)
EMBER_FOR_EACH_COMPARE_INSTRUCTION(EMBER_ROW)
#undef EMBER_ROW
}  // namespace ember::tensor::semantics_check

#endif  // EMBER_TENSOR_SEMANTICS_H_
