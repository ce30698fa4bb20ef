// The arithmetic rows of the instruction table as function objects over compute
// types, named <row>Op. Only the kernel files include this header (see
// loops.h). A row without a function object is a compile error in these files.
#ifndef EMBER_VM_INTERPRETER_ARITHMETIC_H_
#define EMBER_VM_INTERPRETER_ARITHMETIC_H_

#include <type_traits>

#include "vm/interpreter/scalar_math.h"

namespace ember::vm {
// The namespace is anonymous: each build of a kernel file has functions of its
// own, compiled with its own flags.
namespace {  // NOLINT(google-build-namespaces)

template <typename T>
struct UnsignedOfImplementation {
  using type = T;
};
template <>
struct UnsignedOfImplementation<int32_t> {
  using type = uint32_t;
};
template <>
struct UnsignedOfImplementation<int64_t> {
  using type = uint64_t;
};
// The unsigned type in which integer arithmetic is done, because it wraps,
// while signed overflow is undefined.
template <typename T>
using UnsignedOf = typename UnsignedOfImplementation<T>::type;

template <typename T>
inline constexpr bool kIsFloat = std::is_floating_point_v<T>;
template <typename T>
inline constexpr bool kIsBool = std::is_same_v<T, uint8_t>;

#define EMBER_UNARY_OP(name, ...) \
  struct name##Op {               \
    template <typename T>         \
    static T Do(T a) {            \
      using U = UnsignedOf<T>;    \
      (void)sizeof(U);            \
      __VA_ARGS__                 \
    }                             \
  };

EMBER_UNARY_OP(Negate, if constexpr (kIsFloat<T>) return -a;
               else return T(U(0) - U(a));)
EMBER_UNARY_OP(
    Absolute, if constexpr (std::is_same_v<T, float>) return __builtin_fabsf(a);
    else if constexpr (std::is_same_v<T, double>) return __builtin_fabs(a);
    else return a < T(0) ? T(U(0) - U(a)) : a;)
EMBER_UNARY_OP(Sign, const T sign = T((a > T(0) ? 1 : 0) - (a < T(0) ? 1 : 0));
               if constexpr (kIsFloat<T>) return (a > T(0) || a < T(0)) ? sign
                                                                        : a;
               else return sign;)
EMBER_UNARY_OP(Not, if constexpr (kIsBool<T>) return T(a ^ 1);
               else return T(~a);)
#undef EMBER_UNARY_OP

// Defines an operation on floats: the function `single` computes it in f32,
// `wide` in f64.
#define EMBER_FLOAT_OP(name, single, wide)    \
  struct name##Op {                           \
    template <typename T>                     \
    static T Do(T a) {                        \
      if constexpr (std::is_same_v<T, float>) \
        return single(a);                     \
      else                                    \
        return wide(a);                       \
    }                                         \
  };
EMBER_FLOAT_OP(Floor, __builtin_floorf, __builtin_floor)
EMBER_FLOAT_OP(Ceil, __builtin_ceilf, __builtin_ceil)
EMBER_FLOAT_OP(Round, __builtin_rintf, __builtin_rint)
EMBER_FLOAT_OP(Truncate, __builtin_truncf, __builtin_trunc)
EMBER_FLOAT_OP(Sqrt, __builtin_sqrtf, __builtin_sqrt)
EMBER_FLOAT_OP(Exp, ExpF32, __builtin_exp)
EMBER_FLOAT_OP(Log, LogF32, __builtin_log)
EMBER_FLOAT_OP(Log1p, Log1pF32, __builtin_log1p)
EMBER_FLOAT_OP(Expm1, Expm1F32, __builtin_expm1)
EMBER_FLOAT_OP(Sin, __builtin_sinf,
               // Functions of libm. For f32, TrigonometricKernel
               // (strip_kernels.cc) calls them only for |x| above
               // kTrigonometricLimit; otherwise it calls SinShifted.
               __builtin_sin)
EMBER_FLOAT_OP(Cos, __builtin_cosf, __builtin_cos)
EMBER_FLOAT_OP(Tan, __builtin_tanf, __builtin_tan)
EMBER_FLOAT_OP(Asin, __builtin_asinf, __builtin_asin)
EMBER_FLOAT_OP(Acos, __builtin_acosf, __builtin_acos)
EMBER_FLOAT_OP(Atan, __builtin_atanf, __builtin_atan)
EMBER_FLOAT_OP(Sinh, __builtin_sinhf, __builtin_sinh)
EMBER_FLOAT_OP(Cosh, __builtin_coshf, __builtin_cosh)
EMBER_FLOAT_OP(Tanh, TanhF32, __builtin_tanh)
EMBER_FLOAT_OP(Asinh, __builtin_asinhf, __builtin_asinh)
EMBER_FLOAT_OP(Acosh, __builtin_acoshf, __builtin_acosh)
EMBER_FLOAT_OP(Atanh, __builtin_atanhf, __builtin_atanh)
EMBER_FLOAT_OP(Erf, ErfF32, __builtin_erf)
#undef EMBER_FLOAT_OP

// The operations that test a float. Their results are bool.
struct IsNanOp {
  template <typename T>
  static uint8_t Do(T a) {
    return a != a;
  }
};
struct IsInfiniteOp {
  template <typename T>
  static uint8_t Do(T a) {
    return AbsoluteOp::Do(a) == T(__builtin_inf());
  }
};

#define EMBER_BINARY_OP(name, ...) \
  struct name##Op {                \
    template <typename T>          \
    static T Do(T a, T b) {        \
      using U = UnsignedOf<T>;     \
      (void)sizeof(U);             \
      __VA_ARGS__                  \
    }                              \
  };

EMBER_BINARY_OP(Add, return T(U(a) + U(b));)
EMBER_BINARY_OP(Subtract, return T(U(a) - U(b));)
EMBER_BINARY_OP(Multiply, return T(U(a) * U(b));)
EMBER_BINARY_OP(
    Divide, if constexpr (kIsFloat<T>) { return a / b; } else {
      if (b == T(0)) return T(0);
      if constexpr (std::is_signed_v<T>) {
        if (b == T(-1)) return T(U(0) - U(a));
      }
      return T(a / b);
    })
EMBER_BINARY_OP(
    FloorDivide, if (b == T(0)) return T(0);
    if constexpr (std::is_signed_v<T>) {
      if (b == T(-1)) return T(U(0) - U(a));
      const T quotient = a / b;
      return (a % b != 0 && (a < 0) != (b < 0)) ? T(quotient - 1) : quotient;
    } else { return T(a / b); })
EMBER_BINARY_OP(
    Remainder,
    if constexpr (std::is_same_v<T, float>) {
      return __builtin_fmodf(a, b);
    } else if constexpr (std::is_same_v<T, double>) {
      return __builtin_fmod(a, b);
    } else {
      if (b == T(0)) return T(0);
      if constexpr (std::is_signed_v<T>) {
        if (b == T(-1)) return T(0);
      }
      return T(a % b);
    })
EMBER_BINARY_OP(
    Modulo, const T r = RemainderOp::Do(a, b); if constexpr (kIsFloat<T>) {
      const T zero = b < T(0) || (b == T(0) && T(1) / b < T(0)) ? -T(0) : T(0);
      return r == T(0) ? zero : ((r < T(0)) != (b < T(0)) ? r + b : r);
    } else if constexpr (std::is_signed_v<T>) {
      return (r != T(0) && (r < T(0)) != (b < T(0))) ? T(r + b) : r;
    } else { return r; })
EMBER_BINARY_OP(
    Power,
    if constexpr (std::is_same_v<T, float>) {
      return __builtin_powf(a, b);
    } else if constexpr (std::is_same_v<T, double>) {
      return __builtin_pow(a, b);
    } else {
      if constexpr (std::is_signed_v<T>) {
        if (b < 0)
          return a == 1 ? T(1) : (a == -1 ? ((b & 1) ? a : T(1)) : T(0));
      }
      U exponent = U(b);
      U result = 1;
      for (U base = U(a); exponent != 0; exponent >>= 1, base *= base) {
        if (exponent & 1) result *= base;
      }
      return T(result);
    })
EMBER_BINARY_OP(Minimum,
                if constexpr (kIsFloat<T>) return ((a <= b) | (a != a)) ? a : b;
                else return a < b ? a : b;)
EMBER_BINARY_OP(Maximum,
                if constexpr (kIsFloat<T>) return ((a >= b) | (a != a)) ? a : b;
                else return a > b ? a : b;)
EMBER_BINARY_OP(
    Atan2,
    if constexpr (std::is_same_v<T, float>) return __builtin_atan2f(a, b);
    else return __builtin_atan2(a, b);)
EMBER_BINARY_OP(And, return T(a & b);)
EMBER_BINARY_OP(Or, return T(a | b);)
EMBER_BINARY_OP(Xor, return T(a ^ b);)
#undef EMBER_BINARY_OP

// A shift by at least the width of the instruction's type gives 0, or -1 if a
// negative number is shifted right. `bits` is this width, which may be smaller
// than that of the compute type.
struct ShiftLeftOp {
  template <typename T>
  static T Do(T a, T b, int64_t bits) {
    const UnsignedOf<T> amount = static_cast<UnsignedOf<T>>(b);
    return amount < static_cast<UnsignedOf<T>>(bits)
               ? T(UnsignedOf<T>(a) << amount)
               : T(0);
  }
};
struct ShiftRightOp {
  template <typename T>
  static T Do(T a, T b, int64_t bits) {
    const UnsignedOf<T> amount = static_cast<UnsignedOf<T>>(b);
    if (amount < static_cast<UnsignedOf<T>>(bits)) return T(a >> amount);
    return a < T(0) ? T(-1) : T(0);
  }
};

// Defines the comparison of two values by an operator. Its result is bool.
#define EMBER_COMPARE_OP(name, symbol) \
  struct name##Op {                    \
    template <typename T>              \
    static uint8_t Do(T a, T b) {      \
      return a symbol b;               \
    }                                  \
  };
EMBER_COMPARE_OP(Equal, ==)
EMBER_COMPARE_OP(NotEqual, !=)
EMBER_COMPARE_OP(Less, <)
EMBER_COMPARE_OP(LessEqual, <=)
#undef EMBER_COMPARE_OP

}  // namespace
}  // namespace ember::vm

#endif  // EMBER_VM_INTERPRETER_ARITHMETIC_H_
