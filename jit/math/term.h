// Terms let the expansions of jit/math be written as formulas.
//
//   Term Sigmoid(Term x) { return 1.0 / (1.0 + Exp(-x)); }
//
// A Term is a node of a pool; operators make nodes through the Simplifier. A
// double that is combined with a Term becomes a constant of its type. A
// comparison is a Term of bool, for Select. Internal to jit/math.
// Thread-compatible, as the pool is.
#ifndef EMBER_JIT_MATH_TERM_H_
#define EMBER_JIT_MATH_TERM_H_

#include <cstdint>
#include <span>

#include "tensor/builder/expression_pool.h"
#include "tensor/instructions.h"

namespace ember::jit {

class Term {
 public:
  Term(tensor::ExpressionPool& pool, tensor::NodeId id)
      : pool_(&pool), id_(id) {}

  tensor::ExpressionPool& pool() const { return *pool_; }
  tensor::NodeId id() const { return id_; }
  DType type() const { return (*pool_)[id_].type; }
  bool is_f32() const { return type() == DType::kF32; }

  // Return a constant of this term's type: Number() from a number, Bits() from
  // the bits of its value.
  Term Number(double number) const;
  Term Bits(uint64_t bits) const;

 private:
  tensor::ExpressionPool* pool_;
  tensor::NodeId id_;
};

Term Make(tensor::Opcode opcode, DType type, std::span<const Term> operands);
Term Unary(tensor::Opcode opcode, Term a);
Term Binary(tensor::Opcode opcode, Term a, Term b);
Term Compare(tensor::Opcode opcode, Term a, Term b);

// clang-format off
#define EMBER_TERM_OPERATOR(symbol, function, opcode)                      \
  inline Term operator symbol(Term a, Term b) {                          \
    return function(tensor::Opcode::k##opcode, a, b);                       \
  }                                                                         \
  inline Term operator symbol(Term a, double b) { return a symbol a.Number(b); } \
  inline Term operator symbol(double a, Term b) { return b.Number(a) symbol b; }
EMBER_TERM_OPERATOR(+, Binary, Add)
EMBER_TERM_OPERATOR(-, Binary, Subtract)
EMBER_TERM_OPERATOR(*, Binary, Multiply)
EMBER_TERM_OPERATOR(/, Binary, Divide)
EMBER_TERM_OPERATOR(<, Compare, Less)
EMBER_TERM_OPERATOR(<=, Compare, LessEqual)
EMBER_TERM_OPERATOR(==, Compare, Equal)
EMBER_TERM_OPERATOR(!=, Compare, NotEqual)
#undef EMBER_TERM_OPERATOR
// clang-format on

inline Term operator&(Term a, Term b) {
  return Binary(tensor::Opcode::kAnd, a, b);
}
inline Term operator|(Term a, Term b) {
  return Binary(tensor::Opcode::kOr, a, b);
}
inline Term operator^(Term a, Term b) {
  return Binary(tensor::Opcode::kXor, a, b);
}
inline Term operator&(Term a, uint64_t bits) { return a & a.Bits(bits); }
inline Term operator|(Term a, uint64_t bits) { return a | a.Bits(bits); }
inline Term operator<<(Term a, int count) {
  return Binary(tensor::Opcode::kShiftLeft, a,
                a.Bits(static_cast<uint64_t>(count)));
}
inline Term operator>>(Term a, int count) {
  return Binary(tensor::Opcode::kShiftRight, a,
                a.Bits(static_cast<uint64_t>(count)));
}
inline Term operator-(Term a) { return Unary(tensor::Opcode::kNegate, a); }

inline Term Absolute(Term a) { return Unary(tensor::Opcode::kAbsolute, a); }
inline Term Sqrt(Term a) { return Unary(tensor::Opcode::kSqrt, a); }
inline Term Floor(Term a) { return Unary(tensor::Opcode::kFloor, a); }
Term Select(Term condition, Term if_true, Term if_false);
Term Select(Term condition, double if_true, Term if_false);
Term Select(Term condition, Term if_true, double if_false);
Term Cast(Term a, DType type);

// Return x if it is at most (AtMost) or at least (AtLeast) the limit, otherwise
// the limit. NaN stays NaN. Both are made of Select, because Minimum and
// Maximum define results for NaN and zeros that one machine instruction does
// not give.
Term AtMost(Term a, double limit);
Term AtLeast(Term a, double limit);

// Returns c[0] + c[1] x + c[2] x^2 + ...
Term Polynomial(Term x, std::span<const double> coefficients);

// --- the bits of floats ---

// Masks and sizes of the parts of a float of f32 or f64.
struct FloatFormat {
  DType bits;         // the unsigned integer type of the float's width
  int mantissa_bits;  // number of bits of the mantissa: 23, 52
  int bias;           // bias of the exponent: 127, 1023
  uint64_t sign;
  uint64_t mantissa;  // mask of the mantissa
  // Mask that keeps the upper half of the mantissa's bits, exponent and sign.
  // Products of two numbers that were masked with it are exact.
  uint64_t upper;
  // The number 1.5 * 2^mantissa_bits. Adding it to x and subtracting it again
  // rounds x to an integer; the low bits of the sum x + integer_magic hold that
  // integer.
  double integer_magic;
  double smallest_normal;
};
const FloatFormat& FormatOf(DType type);
inline const FloatFormat& FormatOf(Term x) { return FormatOf(x.type()); }

// returns a float's bits as an unsigned integer of the same width
Term AsBits(Term x);
Term AsFloat(Term bits);  // returns the float that has these bits
// Returns x without the lower half of its mantissa's bits, and thus rounded
// towards zero.
Term UpperHalf(Term x);
// returns the sign bit of x as an unsigned integer, with all other bits 0
Term SignOf(Term x);
// returns x, negated if `sign` (from SignOf) is set
Term FlipSign(Term x, Term sign);
// Returns the magnitude with the sign of x. The magnitude must not have the
// opposite sign of x.
Term WithSign(Term magnitude, Term x);

// Returns one of two arrays of coefficients: f32 if x has the type f32,
// otherwise f64.
template <size_t m, size_t n>
std::span<const double> Pick(Term x, const double (&f32)[m],
                             const double (&f64)[n]) {
  return x.is_f32() ? std::span<const double>(f32)
                    : std::span<const double>(f64);
}
inline double Pick(Term x, double f32, double f64) {
  return x.is_f32() ? f32 : f64;
}

}  // namespace ember::jit

#endif  // EMBER_JIT_MATH_TERM_H_
