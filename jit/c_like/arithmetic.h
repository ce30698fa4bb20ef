// Prints instructions as expressions of a language. An instruction that
// legalisation (jit/legalise) replaces, according to Language::operations, is
// an error here.
//
//   Arithmetic arithmetic(c::kLanguage, error);
//   arithmetic.Print({.opcode = Opcode::kAdd, .type = DType::kI32,
//                     .a = "v1", .b = "v2"});
//   // "(int32_t)((uint32_t)v1 + (uint32_t)v2)"
//
// Integers are computed in unsigned types, since C's unsigned sums wrap.
// Operands are names, literals or casts of those. Only raw divisions can be
// undefined, and legalisation has made their divisors valid. So an expression
// may be evaluated earlier than in the nest, or where the nest does not
// evaluate it.
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
    // True if operands and result are held in 32 bits and do not overflow them.
    bool fits = false;
    // the value of operand b, if it is a constant integer or bool
    std::optional<int64_t> known_b;
  };

  // error: receives the first error, after which the printed text is
  // meaningless. Both arguments must outlive the object.
  Arithmetic(const Language& language, Status& error)
      : language_(language), error_(error) {}

  // Returns the expression of an instruction of the groups kUnary, kClassify,
  // kBinary or kCompare.
  std::string Print(const Operation& op);
  // Returns the expression of a node of a pool, given the expressions of its
  // operands. The node is no leaf, load or pad. fits: true if i64 operands, and
  // the result if it is an i64, are held in 32 bits.
  std::string PrintNode(const tensor::ExpressionPool& pool,
                        const tensor::Node& node,
                        std::span<const std::string> operands,
                        bool fits = false);

 private:
  // Each row of the instruction table has a member function with the row's
  // name, which prints it.
#define EMBER_ROW(name, ...) std::string name(const Operation& op);
  EMBER_FOR_EACH_UNARY_INSTRUCTION(EMBER_ROW)
  EMBER_FOR_EACH_CLASSIFY_INSTRUCTION(EMBER_ROW)
  EMBER_FOR_EACH_BINARY_INSTRUCTION(EMBER_ROW)
  EMBER_FOR_EACH_COMPARE_INSTRUCTION(EMBER_ROW)
#undef EMBER_ROW

  std::string Cast(std::string_view type, std::string_view value) const {
    return CastTo(language_, type, value);
  }
  // Returns the value cast back from the type in which it was computed to the
  // operation's type.
  std::string Narrowed(const Operation& op, std::string_view value) const;
  // Returns an infix operation that is computed in an unsigned type, which
  // wraps. `sign`: the operator, such as "+".
  std::string Wrapping(const Operation& op, std::string_view sign) const;
  // Returns a sum, difference or product. `sign`: the operator.
  std::string Sum(const Operation& op, std::string_view sign) const;
  // Returns the number of bits by which to shift. Unless it is a constant in
  // range, it is masked to the type's width, because C leaves larger shifts
  // undefined.
  std::string ShiftOf(const Operation& op) const;
  // Returns a right shift of operand a by `bits`. The operand is cast to its
  // type, because a literal may have a shorter type.
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
