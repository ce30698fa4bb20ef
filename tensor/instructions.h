// The instruction table of the dispatch IR. All code that handles instructions
// expands these rows: verifier, text form, scalar evaluator, interpreter and
// each JIT back end. A row that one of them does not handle is a compile error.
//
//   text(a, b)   : prefix form, e.g. exp(%x[i])
//   a text b     : infix form where the row says Infix, e.g. %x[i] + %y[i]
//
// Every result is rounded (floats) or wrapped (integers) to the instruction's
// type. The meaning of each arithmetic row is the function of the same name in
// tensor/semantics.h.
#ifndef EMBER_TENSOR_INSTRUCTIONS_H_
#define EMBER_TENSOR_INSTRUCTIONS_H_

#include <cstdint>
#include <string_view>

#include "base/dtype.h"
#include "base/short_text.h"

namespace ember::tensor {

// Structural instructions (constants, axes, loads and so on). Columns: (name,
// text, doc).
// clang-format off
#define EMBER_FOR_EACH_STRUCTURAL_INSTRUCTION(row) \
  row(Constant, "constant", "A constant of any type; the bits are the immediate.") \
  row(Parameter, "parameter", "Scalar parameter number `immediate` of the dispatch, i64.") \
  row(Axis, "axis", "Current index along axis `immediate` of the stage, i64.") \
  row(Accumulator, "accumulator", "Fold bodies only: accumulator `immediate`.") \
  row(Element, "element", "Fold bodies only: incoming element value `immediate`.") \
  row(Load, "load", "Element of buffer `a` at the index operands; must be within its extents.") \
  row(Pad, "pad", "Element of buffer `a` at the index operands, or `c` if any is outside.") \
  row(Select, "select", "select(a, b, c): b where the bool a is true, else c.") \
  row(Cast, "cast", "Converts a to the result type: floats round to nearest even, float to " \
      "integer truncates toward zero and saturates (NaN gives 0), integers wrap, to bool is != 0.") \
  row(Bitcast, "bitcast", "The bits of a as another type of the same width.")
// clang-format on

// Unary arithmetic; the result has the operand's type. Columns: (name, text,
// operand kinds, doc).
// clang-format off
#define EMBER_FOR_EACH_UNARY_INSTRUCTION(row) \
  row(Negate, "neg", kNumeric, "-a, wrapping for integers.") \
  row(Absolute, "abs", kNumeric, "|a|, wrapping for the smallest signed value.") \
  row(Sign, "sign", kNumeric, "-1, 0 or 1; NaN stays NaN.") \
  row(Not, "not", kBoolOrInteger, "Logical for bool, bitwise for integers.") \
  row(Floor, "floor", kFloatOnly, "Largest integer not above a.") \
  row(Ceil, "ceil", kFloatOnly, "Smallest integer not below a.") \
  row(Round, "round", kFloatOnly, "Nearest integer, ties to even.") \
  row(Truncate, "trunc", kFloatOnly, "Integer part, toward zero.") \
  row(Sqrt, "sqrt", kFloatOnly, "Square root, correctly rounded.") \
  row(Exp, "exp", kFloatOnly, "e to the a.") \
  row(Log, "log", kFloatOnly, "Natural logarithm.") \
  row(Log1p, "log1p", kFloatOnly, "log(1 + a), accurate near 0.") \
  row(Expm1, "expm1", kFloatOnly, "exp(a) - 1, accurate near 0.") \
  row(Sin, "sin", kFloatOnly, "Sine, radians.") \
  row(Cos, "cos", kFloatOnly, "Cosine, radians.") \
  row(Tan, "tan", kFloatOnly, "Tangent, radians.") \
  row(Asin, "asin", kFloatOnly, "Arc sine.") \
  row(Acos, "acos", kFloatOnly, "Arc cosine.") \
  row(Atan, "atan", kFloatOnly, "Arc tangent.") \
  row(Sinh, "sinh", kFloatOnly, "Hyperbolic sine.") \
  row(Cosh, "cosh", kFloatOnly, "Hyperbolic cosine.") \
  row(Tanh, "tanh", kFloatOnly, "Hyperbolic tangent.") \
  row(Asinh, "asinh", kFloatOnly, "Inverse hyperbolic sine.") \
  row(Acosh, "acosh", kFloatOnly, "Inverse hyperbolic cosine.") \
  row(Atanh, "atanh", kFloatOnly, "Inverse hyperbolic tangent.") \
  row(Erf, "erf", kFloatOnly, "Gauss error function.")
// clang-format on

// Float classification (such as isnan); the result is a bool. Columns: (name,
// text, operand kinds, doc).
// clang-format off
#define EMBER_FOR_EACH_CLASSIFY_INSTRUCTION(row) \
  row(IsNan, "is_nan", kFloatOnly, "True for NaN.") \
  row(IsInfinite, "is_inf", kFloatOnly, "True for +inf and -inf.")
// clang-format on

// Binary arithmetic; both operands and the result have one type. Columns:
// (name, text, Infix or Prefix, operand kinds, doc).
// clang-format off
#define EMBER_FOR_EACH_BINARY_INSTRUCTION(row) \
  row(Add, "+", Infix, kNumeric, "Sum, wrapping for integers.") \
  row(Subtract, "-", Infix, kNumeric, "Difference, wrapping for integers.") \
  row(Multiply, "*", Infix, kNumeric, "Product, wrapping for integers.") \
  row(Divide, "/", Infix, kNumeric, "Quotient; integers truncate toward zero, x / 0 is 0 and " \
      "the smallest signed value / -1 wraps.") \
  row(FloorDivide, "floordiv", Prefix, kIntegerOnly, "Quotient rounded down; x / 0 is 0.") \
  row(Modulo, "mod", Prefix, kNumeric, "Remainder with the divisor's sign (floor); integer x mod 0 is 0.") \
  row(Remainder, "rem", Prefix, kNumeric, "Remainder with the dividend's sign (C fmod, %); integer x rem 0 is 0.") \
  row(Power, "pow", Prefix, kNumeric, "a to the b; integer powers wrap, negative integer exponents " \
      "give the truncated quotient 1 / a^|b|.") \
  row(Minimum, "min", Prefix, kAny, "Smaller of a and b; NaN if either is NaN.") \
  row(Maximum, "max", Prefix, kAny, "Larger of a and b; NaN if either is NaN.") \
  row(Atan2, "atan2", Prefix, kFloatOnly, "Angle of the point (b, a).") \
  row(And, "and", Prefix, kBoolOrInteger, "Logical for bool, bitwise for integers.") \
  row(Or, "or", Prefix, kBoolOrInteger, "Logical for bool, bitwise for integers.") \
  row(Xor, "xor", Prefix, kBoolOrInteger, "Logical for bool, bitwise for integers.") \
  row(ShiftLeft, "shl", Prefix, kIntegerOnly, "a * 2^b; b outside 0..bits-1 gives 0.") \
  row(ShiftRight, "shr", Prefix, kIntegerOnly, "Arithmetic for signed, logical for unsigned types; b outside " \
      "0..bits-1 gives 0 (or -1 for negative a).")
// clang-format on

// Comparisons of two operands of one type; the result is a bool. If an operand
// is NaN, != gives true and the others give false. Columns: (name, text, Infix,
// operand kinds, doc).
// clang-format off
#define EMBER_FOR_EACH_COMPARE_INSTRUCTION(row) \
  row(Equal, "==", Infix, kAny, "a equals b.") \
  row(NotEqual, "!=", Infix, kAny, "a differs from b.") \
  row(Less, "<", Infix, kAny, "a is below b.") \
  row(LessEqual, "<=", Infix, kAny, "a is not above b.")
// clang-format on

enum class Opcode : uint8_t {
#define EMBER_ROW(name, ...) k##name,
  EMBER_FOR_EACH_STRUCTURAL_INSTRUCTION(EMBER_ROW)
      EMBER_FOR_EACH_UNARY_INSTRUCTION(EMBER_ROW)
          EMBER_FOR_EACH_CLASSIFY_INSTRUCTION(EMBER_ROW)
              EMBER_FOR_EACH_BINARY_INSTRUCTION(EMBER_ROW)
                  EMBER_FOR_EACH_COMPARE_INSTRUCTION(EMBER_ROW)
#undef EMBER_ROW
};

enum class InstructionGroup : uint8_t {
  kStructural,
  kUnary,
  kClassify,
  kBinary,
  kCompare
};

// The kinds of types that an instruction accepts as operands.
enum class OperandKinds : uint8_t {
  kAny,
  kNumeric,
  kFloatOnly,
  kIntegerOnly,
  kBoolOrInteger
};

enum class Notation : uint8_t { Prefix, Infix };

struct InstructionInfo {
  std::string_view text;
  InstructionGroup group;
  Notation notation;
  OperandKinds kinds;
};

// One row of the instruction table.
struct InstructionRow {
  ShortText<13> text;
  InstructionGroup group;
  Notation notation;
  OperandKinds kinds;
};

// The table has the doc texts only for readers of it; a build for an embedded
// runtime may leave them out.
inline constexpr InstructionRow kInstructionTable[] = {
#define EMBER_ROW(name, text, doc) \
  {text, InstructionGroup::kStructural, Notation::Prefix, OperandKinds::kAny},
    EMBER_FOR_EACH_STRUCTURAL_INSTRUCTION(EMBER_ROW)
#undef EMBER_ROW
#define EMBER_ROW(name, text, kinds, doc) \
  {text, InstructionGroup::kUnary, Notation::Prefix, OperandKinds::kinds},
        EMBER_FOR_EACH_UNARY_INSTRUCTION(EMBER_ROW)
#undef EMBER_ROW
#define EMBER_ROW(name, text, kinds, doc) \
  {text, InstructionGroup::kClassify, Notation::Prefix, OperandKinds::kinds},
            EMBER_FOR_EACH_CLASSIFY_INSTRUCTION(EMBER_ROW)
#undef EMBER_ROW
#define EMBER_ROW(name, text, notation, kinds, doc) \
  {text, InstructionGroup::kBinary, Notation::notation, OperandKinds::kinds},
                EMBER_FOR_EACH_BINARY_INSTRUCTION(EMBER_ROW)
#undef EMBER_ROW
#define EMBER_ROW(name, text, notation, kinds, doc) \
  {text, InstructionGroup::kCompare, Notation::notation, OperandKinds::kinds},
                    EMBER_FOR_EACH_COMPARE_INSTRUCTION(EMBER_ROW)
#undef EMBER_ROW
};

inline constexpr int kOpcodeCount =
    sizeof(kInstructionTable) / sizeof(kInstructionTable[0]);

constexpr InstructionInfo InfoOf(Opcode opcode) {
  const InstructionRow& row = kInstructionTable[static_cast<int>(opcode)];
  return {row.text, row.group, row.notation, row.kinds};
}

// Returns how many of Instruction::a, b and c are register operands. Load and
// Pad keep their index registers in the dispatch's operand list instead
// (tensor/dispatch.h).
constexpr int RegisterOperandCount(Opcode opcode) {
  switch (InfoOf(opcode).group) {
    case InstructionGroup::kUnary:
    case InstructionGroup::kClassify:
      return 1;
    case InstructionGroup::kBinary:
    case InstructionGroup::kCompare:
      return 2;
    case InstructionGroup::kStructural:
      break;
  }
  if (opcode == Opcode::kCast || opcode == Opcode::kBitcast) return 1;
  if (opcode == Opcode::kSelect) return 3;
  return 0;
}

constexpr bool AcceptsType(OperandKinds kinds, DType type) {
  switch (kinds) {
    case OperandKinds::kAny:
      return true;
    case OperandKinds::kNumeric:
      return type != DType::kBool;
    case OperandKinds::kFloatOnly:
      return IsFloat(type);
    case OperandKinds::kIntegerOnly:
      return IsInteger(type);
    case OperandKinds::kBoolOrInteger:
      return !IsFloat(type);
  }
  return false;
}

}  // namespace ember::tensor

#endif  // EMBER_TENSOR_INSTRUCTIONS_H_
