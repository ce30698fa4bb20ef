// Lets rules write the expressions that they return as C++ formulas.
//
//   const Term bits = Bitcast(x, DType::kU32);
//   return Select(IsNan(x), bits | 0x400000, bits + 0x7fff);
//
// A Term is a node that a legaliser has made; C++ operators on Terms make
// further legal nodes. An integer operand of an operator becomes a constant of
// the Term's type. A comparison of Terms is a Term of type bool. Internal to
// jit/legalise. Thread-compatible, as the legaliser is.
#ifndef EMBER_JIT_LEGALISE_TERM_H_
#define EMBER_JIT_LEGALISE_TERM_H_

#include <cstdint>
#include <initializer_list>

#include "jit/legalise/legaliser.h"

namespace ember::jit::legalise {

class Term {
 public:
  Term(Legaliser& legaliser, NodeId id) : legaliser_(&legaliser), id_(id) {}

  Legaliser& legaliser() const { return *legaliser_; }
  NodeId id() const { return id_; }
  DType type() const { return legaliser_->TypeOf(id_); }

  // Integer and Number return a constant of this Term's type: an integer, which
  // wraps to the type, or a number.
  Term Integer(int64_t value) const;
  Term Number(double value) const;

 private:
  Legaliser* legaliser_;
  NodeId id_;
};

Term Constant(Legaliser& legaliser, uint64_t bits, DType type);

Term Apply(Opcode opcode, DType type, std::initializer_list<Term> operands);
inline Term Unary(Opcode opcode, Term a) {
  return Apply(opcode, a.type(), {a});
}
inline Term Binary(Opcode opcode, Term a, Term b) {
  return Apply(opcode, a.type(), {a, b});
}
inline Term Compare(Opcode opcode, Term a, Term b) {
  return Apply(opcode, DType::kBool, {a, b});
}

// Raw and RawCast return a raw instruction (jit/loops/raw.h) with these
// operands.
Term Raw(Opcode opcode, Term a, Term b);
Term RawCast(Term a, DType type);

// clang-format off
#define EMBER_TERM_OPERATOR(symbol, function, opcode)           \
  inline Term operator symbol(Term a, Term b) {               \
    return function(Opcode::k##opcode, a, b);                    \
  }                                                              \
  inline Term operator symbol(Term a, int64_t b) {             \
    return a symbol a.Integer(b);                                \
  }
EMBER_TERM_OPERATOR(+, Binary, Add)
EMBER_TERM_OPERATOR(-, Binary, Subtract)
EMBER_TERM_OPERATOR(*, Binary, Multiply)
EMBER_TERM_OPERATOR(&, Binary, And)
EMBER_TERM_OPERATOR(|, Binary, Or)
EMBER_TERM_OPERATOR(^, Binary, Xor)
EMBER_TERM_OPERATOR(<<, Binary, ShiftLeft)
EMBER_TERM_OPERATOR(>>, Binary, ShiftRight)
EMBER_TERM_OPERATOR(<, Compare, Less)
EMBER_TERM_OPERATOR(<=, Compare, LessEqual)
EMBER_TERM_OPERATOR(==, Compare, Equal)
EMBER_TERM_OPERATOR(!=, Compare, NotEqual)
#undef EMBER_TERM_OPERATOR
// clang-format on
inline Term operator-(Term a) { return Unary(Opcode::kNegate, a); }

inline Term Not(Term a) { return Unary(Opcode::kNot, a); }
inline Term Absolute(Term a) { return Unary(Opcode::kAbsolute, a); }
inline Term IsNan(Term a) { return Apply(Opcode::kIsNan, DType::kBool, {a}); }
inline Term Cast(Term a, DType type) { return Apply(Opcode::kCast, type, {a}); }
inline Term Bitcast(Term a, DType type) {
  return Apply(Opcode::kBitcast, type, {a});
}
inline Term Select(Term condition, Term a, Term b) {
  return Apply(Opcode::kSelect, a.type(), {condition, a, b});
}

}  // namespace ember::jit::legalise

#endif  // EMBER_JIT_LEGALISE_TERM_H_
