#include "jit/c/arithmetic.h"

#include <bit>

#include "base/concat.h"
#include "jit/backend/decline_reasons.h"
#include "jit/c/conversions.h"
#include "jit/c/types.h"
#include "jit/loops/raw.h"
#include "jit/math/expand.h"

namespace ember::jit::c {

using tensor::Opcode;
using Operation = Arithmetic::Operation;

namespace {

std::string Infix(const Operation& op, std::string_view sign) {
  return Concat({op.a, " ", sign, " ", op.b});
}

// True if arithmetic of the type wraps in C, as it does in nests.
bool WrapsByItself(DType type) {
  return type == DType::kU32 || type == DType::kU64;
}

// Returns the value, cast back to the operation's type.
std::string Narrowed(const Operation& op, std::string_view value) {
  if (WrapsByItself(op.type)) return std::string(value);
  return Concat({"(", TypeOf(op.type), ")(", value, ")"});
}

// Returns the operation in the form of an operation on unsigned integers, which
// wrap.
std::string Wrapping(const Operation& op, std::string_view sign) {
  if (WrapsByItself(op.type)) return Infix(op, sign);
  const std::string_view wide = WrappingTypeOf(op.type);
  return Narrowed(
      op, Concat({"(", wide, ")", op.a, " ", sign, " (", wide, ")", op.b}));
}

std::string OfFloat(const Operation& op, std::string_view function) {
  return Concat({function, op.type == DType::kF64 ? "(" : "f(", op.a, ")"});
}

// Returns the number of bits to shift by. The number is masked, because a shift
// by too many bits is undefined in C.
std::string ShiftOf(const Operation& op) {
  const int bits = 8 * DTypeByteSize(op.type);
  if (op.known_b && *op.known_b >= 0 && *op.known_b < bits) return op.b;
  return Concat({"((uint32_t)", op.b, " & ", bits - 1, ")"});
}

// Returns a sum, difference or product as an expression of C, given the
// operator's sign.
std::string Sum(const Operation& op, std::string_view sign) {
  return IsFloat(op.type) || op.fits ? Infix(op, sign) : Wrapping(op, sign);
}

// Returns a shift to the right. The operand is cast, because a literal may be
// of a shorter type.
std::string ShiftedRight(const Operation& op, std::string_view bits) {
  const std::string_view type = TypeOf(op.type);
  return Narrowed(op, Concat({"(", type, ")", op.a, " >> ", bits}));
}

// Returns log2 of a constant power of two.
std::optional<int> ShiftOfPower(const Operation& op) {
  if (!op.known_b || *op.known_b <= 0) return std::nullopt;
  const auto value = static_cast<uint64_t>(*op.known_b);
  if (!std::has_single_bit(value)) return std::nullopt;
  return std::countr_zero(value);
}

}  // namespace

std::string Arithmetic::Emit(const Operation& op) {
  switch (op.opcode) {
#define EMBER_ROW(name, ...) \
  case Opcode::k##name:      \
    return name(op);
    EMBER_FOR_EACH_UNARY_INSTRUCTION(EMBER_ROW)
    EMBER_FOR_EACH_CLASSIFY_INSTRUCTION(EMBER_ROW)
    EMBER_FOR_EACH_BINARY_INSTRUCTION(EMBER_ROW)
    EMBER_FOR_EACH_COMPARE_INSTRUCTION(EMBER_ROW)
#undef EMBER_ROW
#define EMBER_ROW(name, ...) case Opcode::k##name:
    EMBER_FOR_EACH_STRUCTURAL_INSTRUCTION(EMBER_ROW)
#undef EMBER_ROW
    break;
  }
  return Replaced(op);
}

std::string Arithmetic::EmitNode(const tensor::ExpressionPool& pool,
                                 const tensor::Node& node,
                                 std::span<const std::string> operands,
                                 bool fits) {
  const auto held = [&](DType type) {
    return fits && type == DType::kI64 ? DType::kI32 : type;
  };
  const DType type = held(pool[node.operands[0]].type);
  const bool is_raw = loops::IsRaw(node);
  switch (node.opcode) {
    case Opcode::kSelect:
      return Concat({operands[0], " ? ", operands[1], " : ", operands[2]});
    case Opcode::kCast:
      if (auto cast = Cast(type, held(node.type), is_raw, operands[0]))
        return *std::move(cast);
      break;
    case Opcode::kBitcast:
      return Bitcast(type, node.type, operands[0]);
    default:
      break;
  }
  return Emit({.opcode = node.opcode,
               .is_raw = is_raw,
               .type = type,
               .a = operands.front(),
               .b = operands.back(),
               .fits = type != pool[node.operands[0]].type,
               .known_b = pool.IntegerConstant(node.operands.back())});
}

std::string Arithmetic::Replaced(const Operation& op) {
  if (error_.ok()) {
    error_ = InternalError(
        Concat({"expected what jit/math and jit/legalise leave, found ",
                (op.is_raw ? "raw " : ""), tensor::InfoOf(op.opcode).text,
                " of ", DTypeName(op.type)}));
  }
  return op.a;
}

std::string Arithmetic::FloatRemainder(const Operation& op) {
  if (error_.ok())
    error_ = Decline(DeclineReason::kFloatRemainder, DTypeName(op.type));
  return op.a;
}

// --- unary

std::string Arithmetic::Negate(const Operation& op) {
  if (IsFloat(op.type) || op.fits) return Concat({"-(", op.a, ")"});
  return Narrowed(op, Concat({"0 - (", WrappingTypeOf(op.type), ")", op.a}));
}

std::string Arithmetic::Absolute(const Operation& op) {
  if (IsFloat(op.type)) return OfFloat(op, "fabs");
  return Concat({op.a, " < 0 ? ", Negate(op), " : ", op.a});
}

std::string Arithmetic::Sign(const Operation& op) { return Replaced(op); }

std::string Arithmetic::Not(const Operation& op) {
  if (op.type == DType::kBool) return Concat({"!", op.a});
  return Narrowed(op, Concat({"~(", WrappingTypeOf(op.type), ")", op.a}));
}

std::string Arithmetic::Floor(const Operation& op) {
  return OfFloat(op, "floor");
}
std::string Arithmetic::Ceil(const Operation& op) {
  return OfFloat(op, "ceil");
}
// Returns the rounding of ties to even: nearbyint does that in C's default
// rounding mode.
std::string Arithmetic::Round(const Operation& op) {
  return OfFloat(op, "nearbyint");
}
std::string Arithmetic::Truncate(const Operation& op) {
  return OfFloat(op, "trunc");
}
std::string Arithmetic::Sqrt(const Operation& op) {
  return OfFloat(op, "sqrt");
}

// Legalisation has replaced the instructions that jit/math expands, so emitting
// one is an error.
#define EMBER_EXPANDED(name) \
  std::string Arithmetic::name(const Operation& op) { return Replaced(op); }
EMBER_FOR_EACH_EXPANDED(EMBER_EXPANDED)
#undef EMBER_EXPANDED

// --- classification

std::string Arithmetic::IsNan(const Operation& op) {
  return Concat({op.a, " != ", op.a});
}

std::string Arithmetic::IsInfinite(const Operation& op) {
  return Concat({OfFloat(op, "fabs"), " == (", TypeOf(op.type), ")INFINITY"});
}

// --- binary

std::string Arithmetic::Add(const Operation& op) { return Sum(op, "+"); }
std::string Arithmetic::Subtract(const Operation& op) { return Sum(op, "-"); }
std::string Arithmetic::Multiply(const Operation& op) { return Sum(op, "*"); }

std::string Arithmetic::Divide(const Operation& op) {
  if (IsFloat(op.type)) return Infix(op, "/");
  return op.is_raw ? Narrowed(op, Infix(op, "/")) : Replaced(op);
}

std::string Arithmetic::Remainder(const Operation& op) {
  if (IsFloat(op.type)) return FloatRemainder(op);
  return op.is_raw ? Narrowed(op, Infix(op, "%")) : Replaced(op);
}

// Unless the division is raw, the divisor must be a constant power of two.
std::string Arithmetic::FloorDivide(const Operation& op) {
  if (op.is_raw) return Wrapping(op, "/");
  const auto shift = ShiftOfPower(op);
  if (!shift) return Replaced(op);
  return ShiftedRight(op, std::to_string(*shift));
}

std::string Arithmetic::Modulo(const Operation& op) {
  if (IsFloat(op.type)) return FloatRemainder(op);
  if (op.is_raw) return Wrapping(op, "%");
  if (!ShiftOfPower(op)) return Replaced(op);
  const auto mask = static_cast<uint64_t>(*op.known_b) - 1;
  return Narrowed(op, Concat({op.a, " & ", LiteralOf(op.type, mask)}));
}

std::string Arithmetic::Minimum(const Operation& op) {
  if (IsFloat(op.type)) return Replaced(op);
  return Concat({op.b, " < ", op.a, " ? ", op.b, " : ", op.a});
}

std::string Arithmetic::Maximum(const Operation& op) {
  if (IsFloat(op.type)) return Replaced(op);
  return Concat({op.a, " < ", op.b, " ? ", op.b, " : ", op.a});
}

std::string Arithmetic::And(const Operation& op) {
  return Narrowed(op, Infix(op, "&"));
}
std::string Arithmetic::Or(const Operation& op) {
  return Narrowed(op, Infix(op, "|"));
}
std::string Arithmetic::Xor(const Operation& op) {
  return Narrowed(op, Infix(op, "^"));
}

std::string Arithmetic::ShiftLeft(const Operation& op) {
  if (!op.is_raw) return Replaced(op);
  return Narrowed(op, Concat({"(", WrappingTypeOf(op.type), ")", op.a, " << ",
                              ShiftOf(op)}));
}

// Returns a shift to the right: all C compilers shift negative numbers
// arithmetically.
std::string Arithmetic::ShiftRight(const Operation& op) {
  if (!op.is_raw) return Replaced(op);
  return ShiftedRight(op, ShiftOf(op));
}

// --- comparisons

std::string Arithmetic::Equal(const Operation& op) { return Infix(op, "=="); }
std::string Arithmetic::NotEqual(const Operation& op) {
  return Infix(op, "!=");
}
std::string Arithmetic::Less(const Operation& op) { return Infix(op, "<"); }
std::string Arithmetic::LessEqual(const Operation& op) {
  return Infix(op, "<=");
}

}  // namespace ember::jit::c
