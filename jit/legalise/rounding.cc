#include "jit/legalise/rounding.h"

#include "jit/legalise/term.h"

namespace ember::jit::legalise {
namespace {

// Returns the magnitude of `value` with the sign of `other`, also if `other` is
// +0 or -0.
Term WithSignOf(Term value, Term other) {
  const DType bits = value.type() == DType::kF64 ? DType::kU64 : DType::kU32;
  const int64_t sign = int64_t{1} << (8 * DTypeByteSize(bits) - 1);
  return Bitcast((Bitcast(value, bits) & ~sign) | (Bitcast(other, bits) & sign),
                 value.type());
}

}  // namespace

std::optional<NodeId> Rounding(Legaliser& legaliser,
                               const Instruction& instruction) {
  const Opcode opcode = instruction.opcode;
  const bool is_floor = opcode == Opcode::kFloor;
  const bool is_ceil = opcode == Opcode::kCeil;
  const bool is_truncate = opcode == Opcode::kTruncate;
  if (!is_floor && !is_ceil && !is_truncate && opcode != Opcode::kRound)
    return std::nullopt;
  const bool is_double = instruction.type == DType::kF64;
  if (is_double ? legaliser.target().rounding_f64
                : legaliser.target().rounding_f32)
    return std::nullopt;
  const Term a(legaliser, instruction.operands[0]);
  // All finite floats of at least this magnitude are whole numbers.
  const Term limit = a.Number(is_double ? 0x1p52 : 0x1p23);
  const Term size = Absolute(a);
  const Term one = a.Number(1), zero = a.Number(0);
  Term rounded = (size + limit) - limit;
  if (is_truncate) rounded = rounded - Select(size < rounded, one, zero);
  rounded = WithSignOf(rounded, a);
  if (is_floor) rounded = rounded - Select(a < rounded, one, zero);
  if (is_ceil) rounded = rounded + Select(rounded < a, one, zero);
  if (is_floor || is_ceil) rounded = WithSignOf(rounded, a);
  return Select(size < limit, rounded, a).id();
}

}  // namespace ember::jit::legalise
