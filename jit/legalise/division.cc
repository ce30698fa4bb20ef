#include "jit/legalise/division.h"

#include <bit>
#include <cstdint>

#include "base/rounding.h"
#include "jit/legalise/term.h"

namespace ember::jit::legalise {

using tensor::Interval;

namespace {

// A range of dividends so small that adding a multiple of the divisor does not
// overflow.
constexpr Interval kSmall = {-(int64_t{1} << 61), int64_t{1} << 61};

struct Operands {
  Term a;
  Term b;
  Interval range_a;
  Interval range_b;
  // True if the operation can be done by an unsigned division: the type is
  // unsigned, or neither operand can be negative.
  bool is_unsigned = false;

  bool MayDivideByZero() const { return range_b.Contains(0); }
  bool MayDivideByMinusOne() const {
    return !is_unsigned && range_b.Contains(-1);
  }
};

// Returns divisor b, in which 0 and -1, for which the machine's division may
// have no result, are replaced by 1 if they can occur.
Term SafeDivisor(const Operands& o) {
  if (!o.MayDivideByZero() && !o.MayDivideByMinusOne()) return o.b;
  if (!o.MayDivideByMinusOne()) return Select(o.b == 0, o.b.Integer(1), o.b);
  const Term is_minus_one = o.b == -1;
  return Select(o.MayDivideByZero() ? (o.b == 0) | is_minus_one : is_minus_one,
                o.b.Integer(1), o.b);
}

// Returns an expression for the quotient rounded toward 0. Its value is 0 where
// b is 0.
Term Quotient(const Operands& o) {
  Term quotient = Raw(o.is_unsigned ? Opcode::kFloorDivide : Opcode::kDivide,
                      o.a, SafeDivisor(o));
  if (o.MayDivideByMinusOne()) quotient = Select(o.b == -1, -o.a, quotient);
  if (o.MayDivideByZero())
    quotient = Select(o.b == 0, o.b.Integer(0), quotient);
  return quotient;
}

// Returns the remainder of the quotient rounded toward 0, which has the
// dividend's sign. If b is 0 or -1, the remainder by the safe divisor 1 is 0,
// which is the defined result.
Term Remainder(const Operands& o) {
  return Raw(o.is_unsigned ? Opcode::kModulo : Opcode::kRemainder, o.a,
             SafeDivisor(o));
}

// Returns floordiv or mod of a dividend with a known lower bound by a positive
// constant. A multiple of the constant is added first, so that the dividend is
// not negative. Returns nullopt if that might overflow, or if the type is not
// i64.
std::optional<Term> Shifted(const Operands& o, int64_t divisor,
                            bool is_quotient) {
  if (o.a.type() != DType::kI64 || !o.range_a.Within(kSmall) ||
      divisor > kSmall.high)
    return std::nullopt;
  const int64_t times = DivideRoundingUp(-o.range_a.low, divisor);
  const Term moved = o.a + times * divisor;
  const Term result =
      Raw(is_quotient ? Opcode::kFloorDivide : Opcode::kModulo, moved, o.b);
  return is_quotient ? result - times : result;
}

// Returns floordiv or mod, computed from the quotient and remainder that are
// rounded toward 0.
Term RoundedDown(const Operands& o, bool is_quotient) {
  const Term remainder = Remainder(o);
  const Term wrong = o.range_b.low >= 0
                         ? remainder < 0
                         : (remainder != 0) & ((remainder < 0) ^ (o.b < 0));
  if (!is_quotient) return Select(wrong, remainder + o.b, remainder);
  const Term quotient = Quotient(o);
  return Select(wrong, quotient - 1, quotient);
}

}  // namespace

std::optional<NodeId> Division(Legaliser& legaliser,
                               const Instruction& instruction) {
  const Opcode opcode = instruction.opcode;
  const bool rounds_down =
      opcode == Opcode::kFloorDivide || opcode == Opcode::kModulo;
  const bool is_quotient =
      opcode == Opcode::kFloorDivide || opcode == Opcode::kDivide;
  if (!IsInteger(instruction.type) ||
      !(rounds_down || is_quotient || opcode == Opcode::kRemainder))
    return std::nullopt;
  Operands o = {.a = Term(legaliser, instruction.operands[0]),
                .b = Term(legaliser, instruction.operands[1]),
                .range_a = legaliser.RangeOfInteger(instruction.operands[0]),
                .range_b = legaliser.RangeOfInteger(instruction.operands[1])};
  if (instruction.is_raw) {
    if (opcode != Opcode::kRemainder || legaliser.target().signed_remainders)
      return std::nullopt;
    return (o.a - Raw(Opcode::kDivide, o.a, o.b) * o.b).id();
  }
  o.is_unsigned =
      !IsSigned(instruction.type) || (o.range_a.low >= 0 && o.range_b.low >= 0);
  if (!rounds_down || o.is_unsigned)
    return (is_quotient ? Quotient(o) : Remainder(o)).id();
  const std::optional<int64_t> divisor = legaliser.IntegerConstant(o.b.id());
  if (divisor && *divisor > 0) {
    if (std::has_single_bit(static_cast<uint64_t>(*divisor)))
      return std::nullopt;
    if (const auto shifted = Shifted(o, *divisor, is_quotient))
      return shifted->id();
  }
  return RoundedDown(o, is_quotient).id();
}

}  // namespace ember::jit::legalise
