// Prints rows of the instruction table as expressions, as far as legalisation
// (jit/legalise) leaves them according to Language::operations. Rows that
// legalisation replaces are errors here.
//
//   Arithmetic arithmetic(c::kLanguage, error);
//   arithmetic.Print({.opcode = Opcode::kAdd, .type = DType::kI32,
//                     .a = "v1", .b = "v2"});
//   // "(int32_t)((uint32_t)v1 + (uint32_t)v2)"
//
// Integers are computed without a sign, since C's unsigned sums wrap. Operands
// are names, literals or casts of those. Only the raw divisions can be
// undefined, and their divisors are guarded. So an expression may be evaluated
// earlier than the program would, or where it would not.
//
// Not thread-safe.
#ifndef EMBER_JIT_C_LIKE_ARITHMETIC_H_
#define EMBER_JIT_C_LIKE_ARITHMETIC_H_

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/status.h"
#include "jit/c_like/language.h"
#include "tensor/builder/expression_pool.h"
#include "tensor/instructions.h"

namespace ember::jit::c_like {

class Arithmetic {
 public:
  struct Operation {
    tensor::Opcode opcode = tensor::Opcode::kAdd;
    bool is_raw = false;  // true for a raw instruction (jit/loops/raw.h)
    DType type = DType::kF32;
    std::string a;
    std::string b;
    // True if operands and result have 32 bits and a sum does not overflow
    // them.
    bool fits = false;
    // The value of operand b if it is a constant of an integer type or bool.
    std::optional<int64_t> known_b;
  };

  // error: gets the first reason why code cannot be made. Both arguments must
  // outlive the object.
  Arithmetic(const Language& language, Status& error)
      : language_(language), error_(error) {}

  // Returns a row of the groups kUnary, kClassify, kBinary or kCompare.
  std::string Print(const Operation& op);
  // Returns a node of a pool, which is neither a leaf nor a load, for the
  // values of its operands. fits: i64 operands, and the result if it is an i64,
  // are held in 32 bits.
  std::string PrintNode(const tensor::ExpressionPool& pool,
                        const tensor::Node& node,
                        std::span<const std::string> operands,
                        bool fits = false);

 private:
  // Each row of the instruction table has a function of its name.
#define EMBER_ROW(name, ...) std::string name(const Operation& op);
  EMBER_FOR_EACH_UNARY_INSTRUCTION(EMBER_ROW)
  EMBER_FOR_EACH_CLASSIFY_INSTRUCTION(EMBER_ROW)
  EMBER_FOR_EACH_BINARY_INSTRUCTION(EMBER_ROW)
  EMBER_FOR_EACH_COMPARE_INSTRUCTION(EMBER_ROW)
#undef EMBER_ROW

  std::string Cast(std::string_view type, std::string_view value) const {
    return CastTo(language_, type, value);
  }
  // Returns the value, cast back to the operation's type.
  std::string Narrowed(const Operation& op, std::string_view value) const;
  // Returns the operation in the form of an operation on unsigned integers,
  // which wrap.
  std::string Wrapping(const Operation& op, std::string_view sign) const;
  // Returns a sum, difference or product, given the operator's sign.
  std::string Sum(const Operation& op, std::string_view sign) const;
  // Returns the number of bits to shift by. The number is masked, because a
  // shift by too many bits is undefined in C.
  std::string ShiftOf(const Operation& op) const;
  // Returns a shift to the right. The operand is cast, because a literal may be
  // of a shorter type.
  std::string ShiftedRight(const Operation& op, std::string_view bits) const;
  std::string Chosen(std::string_view condition, std::string_view yes,
                     std::string_view no) const;
  std::string Call(const Operation& op, std::string_view function) const;

  std::string Replaced(const Operation& op);
  std::string FloatRemainder(const Operation& op);

  const Language& language_;
  Status& error_;
};

}  // namespace ember::jit::c_like

#endif  // EMBER_JIT_C_LIKE_ARITHMETIC_H_
