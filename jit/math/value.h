// Expressions written as formulas: how the expansions of jit/math are made.
//
//   Value Sigmoid(Value x) { return 1.0 / (1.0 + Exp(-x)); }
//
// A Value is a node of a pool; operators make nodes through the Simplifier.
// Doubles beside a Value are constants of its type. A comparison is a Value of
// bool, for Select. Internal to jit/math. Thread-compatible, as the pool is.
#ifndef EMBER_JIT_MATH_VALUE_H_
#define EMBER_JIT_MATH_VALUE_H_

#include <cstdint>
#include <span>

#include "tensor/expression_pool.h"
#include "tensor/instructions.h"

namespace ember::jit {

class Value {
 public:
  Value(tensor::ExpressionPool& pool, tensor::NodeId id)
      : pool_(&pool), id_(id) {}

  tensor::ExpressionPool& pool() const { return *pool_; }
  tensor::NodeId id() const { return id_; }
  DType type() const { return (*pool_)[id_].type; }
  bool is_f32() const { return type() == DType::kF32; }

  // A constant of this value's type: a number, or bits (the lowest ones).
  Value Number(double number) const;
  Value Bits(uint64_t bits) const;

 private:
  tensor::ExpressionPool* pool_;
  tensor::NodeId id_;
};

Value Make(tensor::Opcode opcode, DType type, std::span<const Value> operands);
Value Unary(tensor::Opcode opcode, Value a);
Value Binary(tensor::Opcode opcode, Value a, Value b);
Value Compare(tensor::Opcode opcode, Value a, Value b);

// clang-format off
#define EMBER_VALUE_OPERATOR(symbol, function, opcode)                      \
  inline Value operator symbol(Value a, Value b) {                          \
    return function(tensor::Opcode::k##opcode, a, b);                       \
  }                                                                         \
  inline Value operator symbol(Value a, double b) { return a symbol a.Number(b); } \
  inline Value operator symbol(double a, Value b) { return b.Number(a) symbol b; }
EMBER_VALUE_OPERATOR(+, Binary, Add)
EMBER_VALUE_OPERATOR(-, Binary, Subtract)
EMBER_VALUE_OPERATOR(*, Binary, Multiply)
EMBER_VALUE_OPERATOR(/, Binary, Divide)
EMBER_VALUE_OPERATOR(<, Compare, Less)
EMBER_VALUE_OPERATOR(<=, Compare, LessEqual)
EMBER_VALUE_OPERATOR(==, Compare, Equal)
EMBER_VALUE_OPERATOR(!=, Compare, NotEqual)
#undef EMBER_VALUE_OPERATOR
// clang-format on

inline Value operator&(Value a, Value b) {
  return Binary(tensor::Opcode::kAnd, a, b);
}
inline Value operator|(Value a, Value b) {
  return Binary(tensor::Opcode::kOr, a, b);
}
inline Value operator^(Value a, Value b) {
  return Binary(tensor::Opcode::kXor, a, b);
}
inline Value operator&(Value a, uint64_t bits) { return a & a.Bits(bits); }
inline Value operator|(Value a, uint64_t bits) { return a | a.Bits(bits); }
inline Value operator<<(Value a, int count) {
  return Binary(tensor::Opcode::kShiftLeft, a,
                a.Bits(static_cast<uint64_t>(count)));
}
inline Value operator>>(Value a, int count) {
  return Binary(tensor::Opcode::kShiftRight, a,
                a.Bits(static_cast<uint64_t>(count)));
}
inline Value operator-(Value a) { return Unary(tensor::Opcode::kNegate, a); }

inline Value Absolute(Value a) { return Unary(tensor::Opcode::kAbsolute, a); }
inline Value Sqrt(Value a) { return Unary(tensor::Opcode::kSqrt, a); }
inline Value Floor(Value a) { return Unary(tensor::Opcode::kFloor, a); }
Value Select(Value condition, Value if_true, Value if_false);
Value Select(Value condition, double if_true, Value if_false);
Value Select(Value condition, Value if_true, double if_false);
Value Cast(Value a, DType type);

// NaN stays NaN. Made of Select, because Minimum and Maximum promise more about
// NaN and zeros than one machine instruction does.
Value AtMost(Value a, double limit);
Value AtLeast(Value a, double limit);

// c[0] + c[1] x + c[2] x^2 + ...
Value Polynomial(Value x, std::span<const double> coefficients);

// --- the bits of floats ---

// What the bits of f32 and f64 are, as far as the formulas want to know.
struct FloatFormat {
  DType bits;         // the unsigned type of this width
  int mantissa_bits;  // 23, 52
  int bias;           // 127, 1023
  uint64_t sign;
  uint64_t mantissa;     // mask
  uint64_t upper;        // mask of the upper half of the precision, and all
                         // above: products of two such are exact
  double integer_magic;  // 1.5 * 2^mantissa_bits: x + magic - magic rounds x
                         // to an integer, and it stands in the bits
  double smallest_normal;
};
const FloatFormat& FormatOf(DType type);
inline const FloatFormat& FormatOf(Value x) { return FormatOf(x.type()); }

Value AsBits(Value x);      // float to unsigned
Value AsFloat(Value bits);  // and back
Value UpperHalf(Value x);   // x less its lower half of bits, toward zero
Value SignOf(Value x);      // the sign bit, as unsigned
Value FlipSign(Value x, Value sign);  // sign: as of SignOf
// The magnitude, which must not be of the other sign, with the sign of x.
Value WithSign(Value magnitude, Value x);

// One of two arrays by the type of x.
template <size_t m, size_t n>
std::span<const double> Pick(Value x, const double (&f32)[m],
                             const double (&f64)[n]) {
  return x.is_f32() ? std::span<const double>(f32)
                    : std::span<const double>(f64);
}
inline double Pick(Value x, double f32, double f64) {
  return x.is_f32() ? f32 : f64;
}

}  // namespace ember::jit

#endif  // EMBER_JIT_MATH_VALUE_H_
