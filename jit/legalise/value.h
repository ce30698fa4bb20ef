// Expressions written as formulas: how rules say what they make.
//
//   const Value bits = Bitcast(x, DType::kU32);
//   return Select(IsNan(x), bits | 0x400000, bits + 0x7fff);
//
// A Value is a node that a legaliser made, and operators make more of them, all
// of what the target has. Integers beside a Value are constants of its type. A
// comparison is a Value of bool. Internal to jit/legalise. Thread-compatible,
// as the legaliser is.
#ifndef EMBER_JIT_LEGALISE_VALUE_H_
#define EMBER_JIT_LEGALISE_VALUE_H_

#include <cstdint>
#include <initializer_list>

#include "jit/legalise/legaliser.h"

namespace ember::jit::legalise {

class Value {
 public:
  Value(Legaliser& legaliser, NodeId id) : legaliser_(&legaliser), id_(id) {}

  Legaliser& legaliser() const { return *legaliser_; }
  NodeId id() const { return id_; }
  DType type() const { return legaliser_->TypeOf(id_); }

  // A constant of this value's type: an integer, which wraps, or a number.
  Value Integer(int64_t value) const;
  Value Number(double value) const;

 private:
  Legaliser* legaliser_;
  NodeId id_;
};

Value Constant(Legaliser& legaliser, uint64_t bits, DType type);

Value Apply(Opcode opcode, DType type, std::initializer_list<Value> operands);
inline Value Unary(Opcode opcode, Value a) {
  return Apply(opcode, a.type(), {a});
}
inline Value Binary(Opcode opcode, Value a, Value b) {
  return Apply(opcode, a.type(), {a, b});
}
inline Value Compare(Opcode opcode, Value a, Value b) {
  return Apply(opcode, DType::kBool, {a, b});
}

// Those of jit/loops/raw.h.
Value Raw(Opcode opcode, Value a, Value b);
Value RawCast(Value a, DType type);

// clang-format off
#define EMBER_VALUE_OPERATOR(symbol, function, opcode)           \
  inline Value operator symbol(Value a, Value b) {               \
    return function(Opcode::k##opcode, a, b);                    \
  }                                                              \
  inline Value operator symbol(Value a, int64_t b) {             \
    return a symbol a.Integer(b);                                \
  }
EMBER_VALUE_OPERATOR(+, Binary, Add)
EMBER_VALUE_OPERATOR(-, Binary, Subtract)
EMBER_VALUE_OPERATOR(*, Binary, Multiply)
EMBER_VALUE_OPERATOR(&, Binary, And)
EMBER_VALUE_OPERATOR(|, Binary, Or)
EMBER_VALUE_OPERATOR(^, Binary, Xor)
EMBER_VALUE_OPERATOR(<<, Binary, ShiftLeft)
EMBER_VALUE_OPERATOR(>>, Binary, ShiftRight)
EMBER_VALUE_OPERATOR(<, Compare, Less)
EMBER_VALUE_OPERATOR(<=, Compare, LessEqual)
EMBER_VALUE_OPERATOR(==, Compare, Equal)
EMBER_VALUE_OPERATOR(!=, Compare, NotEqual)
#undef EMBER_VALUE_OPERATOR
// clang-format on
inline Value operator-(Value a) { return Unary(Opcode::kNegate, a); }

inline Value Not(Value a) { return Unary(Opcode::kNot, a); }
inline Value Absolute(Value a) { return Unary(Opcode::kAbsolute, a); }
inline Value IsNan(Value a) { return Apply(Opcode::kIsNan, DType::kBool, {a}); }
inline Value Cast(Value a, DType type) {
  return Apply(Opcode::kCast, type, {a});
}
inline Value Bitcast(Value a, DType type) {
  return Apply(Opcode::kBitcast, type, {a});
}
inline Value Select(Value condition, Value a, Value b) {
  return Apply(Opcode::kSelect, a.type(), {condition, a, b});
}

inline bool IsNarrowFloat(DType type) {
  return type == DType::kF16 || type == DType::kBF16;
}

}  // namespace ember::jit::legalise

#endif  // EMBER_JIT_LEGALISE_VALUE_H_
