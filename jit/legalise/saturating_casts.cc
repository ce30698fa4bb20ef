#include "jit/legalise/saturating_casts.h"

#include <cmath>

#include "jit/legalise/term.h"
#include "tensor/scalar.h"

namespace ember::jit::legalise {

std::optional<NodeId> SaturatingCasts(Legaliser& legaliser,
                                      const Instruction& instruction) {
  const Term a(legaliser, instruction.operands[0]);
  const DType to = instruction.type;
  if (instruction.opcode != Opcode::kCast || instruction.is_raw ||
      !IsFloat(a.type()) || !IsInteger(to))
    return std::nullopt;
  const int bits = 8 * DTypeByteSize(to);
  const double end = std::ldexp(1.0, IsSigned(to) ? bits - 1 : bits);
  const double low = IsSigned(to) ? -end : 0.0;
  if (bits < 32) {
    // A NaN must become 0. For signed types a select does that; for unsigned
    // types the raw maximum with the lower limit 0 does, since it ignores NaNs.
    Term limited = IsSigned(to) ? Select(IsNan(a), a.Number(0), a) : a;
    limited = Raw(Opcode::kMaximum, limited, a.Number(low));
    limited = Raw(Opcode::kMinimum, limited, a.Number(end - 1));
    return RawCast(RawCast(limited, DType::kI32), to).id();
  }
  if (legaliser.target().saturating_casts) return std::nullopt;
  const auto limit = [&](uint64_t limit_bits) {
    return Constant(legaliser, limit_bits, to);
  };
  Term result = Select(IsNan(a), limit(0), RawCast(a, to));
  result = Select(a < a.Number(low), limit(tensor::SmallestBits(to)), result);
  return Select(a.Number(end) <= a, limit(tensor::LargestBits(to)), result)
      .id();
}

}  // namespace ember::jit::legalise
