#include "jit/c_like/arithmetic.h"

#include <bit>

#include "base/concat.h"
#include "jit/backend/decline_reasons.h"
#include "jit/c_like/conversions.h"
#include "jit/c_like/form.h"
#include "jit/c_like/literals.h"
#include "jit/loops/raw.h"
#include "jit/math/expand.h"

namespace ember::jit::c_like {

using tensor::Opcode;
using Operation = Arithmetic::Operation;

namespace {

std::string Infix(const Operation& op, std::string_view sign) {
  return Concat({op.a, " ", sign, " ", op.b});
}

// True for types in which C's own arithmetic wraps, as nests require.
bool WrapsByItself(DType type) {
  return type == DType::kU32 || type == DType::kU64;
}

// Returns log2 of operand b if b is a constant power of two; otherwise nullopt.
std::optional<int> ShiftOfPower(const Operation& op) {
  if (!op.known_b || *op.known_b <= 0) return std::nullopt;
  const auto value = static_cast<uint64_t>(*op.known_b);
  if (!std::has_single_bit(value)) return std::nullopt;
  return std::countr_zero(value);
}

}  // namespace

std::string Arithmetic::Narrowed(const Operation& op,
                                 std::string_view value) const {
  if (WrapsByItself(op.type) || language_.is_strict) return std::string(value);
  return Cast(TypeOf(language_, op.type), Concat({"(", value, ")"}));
}

std::string Arithmetic::Wrapping(const Operation& op,
                                 std::string_view sign) const {
  if (WrapsByItself(op.type) || language_.is_strict) return Infix(op, sign);
  const std::string_view wide = WrappingTypeOf(language_, op.type);
  return Narrowed(op,
                  Concat({Cast(wide, op.a), " ", sign, " ", Cast(wide, op.b)}));
}

std::string Arithmetic::Sum(const Operation& op, std::string_view sign) const {
  return IsFloat(op.type) || op.fits ? Infix(op, sign) : Wrapping(op, sign);
}

std::string Arithmetic::ShiftOf(const Operation& op) const {
  const int bits = 8 * DTypeByteSize(op.type);
  if (language_.is_strict && op.known_b)
    return LiteralOf(language_, DType::kU32,
                     static_cast<uint64_t>(*op.known_b) % 32);
  if (op.known_b && *op.known_b >= 0 && *op.known_b < bits) return op.b;
  return Concat({"(", Cast(language_.types.u32, op.b), " & ", bits - 1, ")"});
}

std::string Arithmetic::ShiftedRight(const Operation& op,
                                     std::string_view bits) const {
  const std::string_view type = TypeOf(language_, op.type);
  return Narrowed(op, Concat({Cast(type, op.a), " >> ", bits}));
}

std::string Arithmetic::Chosen(std::string_view condition, std::string_view yes,
                               std::string_view no) const {
  return Fill(language_.choice,
              {{"condition", condition}, {"yes", yes}, {"no", no}});
}

std::string Arithmetic::Call(const Operation& op,
                             std::string_view function) const {
  const Language::Functions& functions = language_.functions;
  return Fill(op.type == DType::kF64 ? functions.call_f64 : functions.call_f32,
              {{"function", function}, {"value", op.a}});
}

std::string Arithmetic::Print(const Operation& op) {
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

std::string Arithmetic::PrintNode(const tensor::ExpressionPool& pool,
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
      return Chosen(operands[0], operands[1], operands[2]);
    case Opcode::kCast:
      if (auto cast = c_like::Cast(language_, type, held(node.type), is_raw,
                                   operands[0]))
        return *std::move(cast);
      break;
    case Opcode::kBitcast:
      return Bitcast(language_, type, node.type, operands[0]);
    default:
      break;
  }
  return Print({.opcode = node.opcode,
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
  if (language_.is_strict)
    return Concat({LiteralOf(language_, op.type, 0), " - ", op.a});
  return Narrowed(
      op, Concat({"0 - ", Cast(WrappingTypeOf(language_, op.type), op.a)}));
}

std::string Arithmetic::Absolute(const Operation& op) {
  if (IsFloat(op.type)) return Call(op, language_.functions.absolute);
  return Chosen(op.a + " < 0", Negate(op), op.a);
}

std::string Arithmetic::Sign(const Operation& op) { return Replaced(op); }

std::string Arithmetic::Not(const Operation& op) {
  if (op.type == DType::kBool) return Concat({"!", op.a});
  if (language_.is_strict) return Concat({"~", op.a});
  return Narrowed(
      op, Concat({"~", Cast(WrappingTypeOf(language_, op.type), op.a)}));
}

std::string Arithmetic::Floor(const Operation& op) {
  return Call(op, language_.functions.floor);
}
std::string Arithmetic::Ceil(const Operation& op) {
  return Call(op, language_.functions.ceil);
}
std::string Arithmetic::Round(const Operation& op) {
  return Call(op, language_.functions.round);
}
std::string Arithmetic::Truncate(const Operation& op) {
  return Call(op, language_.functions.truncate);
}
std::string Arithmetic::Sqrt(const Operation& op) {
  return Call(op, language_.functions.square_root);
}

// Transcendental functions that jit/math expands: legalisation has replaced
// them, so printing one is an error.
#define EMBER_EXPANDED(name) \
  std::string Arithmetic::name(const Operation& op) { return Replaced(op); }
EMBER_FOR_EACH_EXPANDED(EMBER_EXPANDED)
#undef EMBER_EXPANDED

// --- classification

std::string Arithmetic::IsNan(const Operation& op) {
  if (!language_.functions.is_nan.empty())
    return Fill(language_.functions.is_nan, {{"value", op.a}});
  return Concat({op.a, " != ", op.a});
}

std::string Arithmetic::IsInfinite(const Operation& op) {
  const Language::Functions& functions = language_.functions;
  if (!functions.is_infinite.empty())
    return Fill(functions.is_infinite, {{"value", op.a}});
  return Concat({Call(op, functions.absolute),
                 " == ", Cast(TypeOf(language_, op.type), functions.infinity)});
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

// FloorDivide, and Modulo of integers: legalisation leaves raw divisions, and
// divisions by a constant power of two. The latter become a shift (FloorDivide)
// or a mask (Modulo).
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
  return Narrowed(op,
                  Concat({op.a, " & ", LiteralOf(language_, op.type, mask)}));
}

std::string Arithmetic::Minimum(const Operation& op) {
  if (IsFloat(op.type)) return Replaced(op);
  return Chosen(Concat({op.b, " < ", op.a}), op.b, op.a);
}

std::string Arithmetic::Maximum(const Operation& op) {
  if (IsFloat(op.type)) return Replaced(op);
  return Chosen(Concat({op.a, " < ", op.b}), op.b, op.a);
}

std::string Arithmetic::And(const Operation& op) {
  return Narrowed(op, Infix(op, "&"));
}
std::string Arithmetic::Or(const Operation& op) {
  return Narrowed(op, Infix(op, "|"));
}
std::string Arithmetic::Xor(const Operation& op) {
  if (language_.is_strict && op.type == DType::kBool) return Infix(op, "!=");
  return Narrowed(op, Infix(op, "^"));
}

std::string Arithmetic::ShiftLeft(const Operation& op) {
  if (!op.is_raw) return Replaced(op);
  const std::string_view wide = language_.is_strict
                                    ? TypeOf(language_, op.type)
                                    : WrappingTypeOf(language_, op.type);
  return Narrowed(op, Concat({Cast(wide, op.a), " << ", ShiftOf(op)}));
}

// A right shift of a signed operand relies on arithmetic shifts, which C leaves
// open but all compilers have.
std::string Arithmetic::ShiftRight(const Operation& op) {
  if (!op.is_raw) return Replaced(op);
  return ShiftedRight(op, ShiftOf(op));
}

// --- comparisons

std::string Arithmetic::Equal(const Operation& op) { return Infix(op, "=="); }
// A strict language may compare floats as if there were no NaN, which is equal
// to nothing.
std::string Arithmetic::NotEqual(const Operation& op) {
  if (language_.is_strict && IsFloat(op.type))
    return Concat({"!(", Infix(op, "=="), ")"});
  return Infix(op, "!=");
}
std::string Arithmetic::Less(const Operation& op) { return Infix(op, "<"); }
std::string Arithmetic::LessEqual(const Operation& op) {
  return Infix(op, "<=");
}

}  // namespace ember::jit::c_like
