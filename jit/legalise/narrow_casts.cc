#include "jit/legalise/narrow_casts.h"

#include <limits>

#include "jit/legalise/small_float_bits.h"
#include "jit/legalise/term.h"

namespace ember::jit::legalise {
namespace {

// Returns an f64 as an f32 that is rounded to odd: rounded toward zero, with
// the last bit set if the result is inexact. A number that f32 rounds to
// infinity becomes infinite instead. Rounding the result to a narrower type
// gives the same as rounding the f64 once.
Term OddFloat(Term value) {
  const Term nearest = Cast(value, DType::kF32);
  const Term back = Cast(nearest, DType::kF64);
  const Term back_size = Absolute(back);
  const Term infinity = value.Number(std::numeric_limits<double>::infinity());
  const Term is_inexact =
      ((back < value) | (value < back)) & (back_size < infinity);
  const Term bits = Bitcast(nearest, DType::kU32);
  const Term below = bits - Select(Absolute(value) < back_size, bits.Integer(1),
                                   bits.Integer(0));
  return Bitcast(Select(is_inexact, below | 1, bits), DType::kF32);
}

// The magnitude of an integer, in an unsigned type, and a bool that is true if
// the integer is negative (nullopt for unsigned types).
struct Magnitude {
  Term size;
  std::optional<Term> negative;
};
Magnitude MagnitudeOf(Term value) {
  const bool is_long = DTypeByteSize(value.type()) == 8;
  const DType type = is_long ? DType::kU64 : DType::kU32;
  if (!IsSigned(value.type())) return {value, std::nullopt};
  const Term negative = value < 0;
  return {Cast(Select(negative, -value, value), type), negative};
}
Term WithSign(Term value, const Magnitude& magnitude) {
  if (!magnitude.negative) return value;
  return Select(*magnitude.negative, -value, value);
}

// Returns an integer as an f64 that is rounded to odd: the last bit is set if a
// 64-bit integer does not fit exactly.
Term OddDouble(Term value) {
  if (DTypeByteSize(value.type()) < 8) return Cast(value, DType::kF64);
  const Magnitude magnitude = MagnitudeOf(value);
  const Term& size = magnitude.size;
  const Term gathered =
      (size & ~int64_t{0x7ff}) |
      Select((size & 0x7ff) != 0, size.Integer(0x800), size.Integer(0));
  const Term exact = Select((size >> 53) != 0, gathered, size);
  return WithSign(Cast(exact, DType::kF64), magnitude);
}

// Returns an integer as an f32 that is rounded to odd (rounded toward zero,
// with the last bit set if the result is inexact), without using f64.
Term OddFloatOfInteger(Term value) {
  const Magnitude magnitude = MagnitudeOf(value);
  Term size = magnitude.size;
  // A magnitude with the highest bit set is halved first, keeping a lost 1 in
  // its last bit, so that the float to which it is rounded up fits the integer
  // type. The result is doubled at the end.
  const Term is_large = (size >> (8 * DTypeByteSize(size.type()) - 1)) != 0;
  size = Select(is_large, (size >> 1) | (size & 1), size);
  const Term nearest = Cast(size, DType::kF32);
  const Term back = RawCast(nearest, size.type());
  const Term bits = Bitcast(nearest, DType::kU32);
  const Term below =
      bits - Select(size < back, bits.Integer(1), bits.Integer(0));
  const Term odd = Bitcast(Select(back == size, bits, below | 1), DType::kF32);
  const Term scale = Select(is_large, odd.Number(2), odd.Number(1));
  return WithSign(odd * scale, magnitude);
}

// Rounds an f32 to bf16: rounds off the lower 16 bits to nearest even. A NaN
// becomes a quiet NaN.
Term RoundToBFloat(Term value) {
  const Term bits = Bitcast(value, DType::kU32);
  const Term odd = (bits >> 16) & 1;
  const Term rounded =
      Select(IsNan(value), bits | 0x400000, bits + 0x7fff + odd);
  return RawCast(Bitcast(rounded & 0xffff0000, DType::kF32), DType::kBF16);
}

bool IsByte(DType type) { return DTypeByteSize(type) == 1; }

// Returns the unsigned integer type with as many bits as a narrow float type.
DType BitsOf(DType type) { return IsByte(type) ? DType::kU8 : DType::kU16; }

// Returns the narrow float with the given bits, which are the low bits of a
// u32.
Term OfBits(Term bits, DType type, const TargetOperations& target) {
  if (target.wide_halves && !IsByte(type))
    return RawCast(DecodeSmallFloat(bits, type), type);
  return Bitcast(RawCast(bits, BitsOf(type)), type);
}

// True if the target has casts from the narrow type to f32, and casts from f32
// for values that the narrow type can represent.
bool IsConverted(DType type, const TargetOperations& target) {
  if (IsByte(type)) return false;
  return type == DType::kBF16 || target.half_conversions || target.wide_halves;
}

// Returns the cast of a narrow float to f32; nullopt if the target has that
// cast.
std::optional<Term> FromNarrow(Term a, const TargetOperations& target) {
  const DType type = a.type();
  if (IsConverted(type, target)) return std::nullopt;
  return DecodeSmallFloat(Cast(Bitcast(a, BitsOf(type)), DType::kU32), type);
}

// Returns the cast of an f32 to a narrow float; nullopt if the target has that
// cast.
std::optional<Term> ToNarrow(Term a, DType to, bool is_raw,
                             const TargetOperations& target) {
  if (is_raw && IsConverted(to, target)) return std::nullopt;
  if (to == DType::kBF16) return RoundToBFloat(a);
  if (to == DType::kF16 && target.half_conversions) return std::nullopt;
  return OfBits(EncodeSmallFloat(a, to), to, target);
}

// Returns a bitcast between 16-bit types, one of which is a float, on a target
// that holds such floats as f32 (wide_halves).
Term HalfBitcast(Term a, DType to) {
  if (IsNarrowFloat(a.type())) {
    const Term single = Cast(a, DType::kF32);
    const Term bits = a.type() == DType::kF16
                          ? EncodeSmallFloat(single, DType::kF16)
                          : Bitcast(single, DType::kU32) >> 16;
    return Bitcast(RawCast(bits, DType::kU16), to);
  }
  const Term bits = Cast(Bitcast(a, DType::kU16), DType::kU32);
  const Term single = to == DType::kF16 ? DecodeSmallFloat(bits, to)
                                        : Bitcast(bits << 16, DType::kF32);
  return RawCast(single, to);
}

// Returns a bitcast between 8-bit types, one of which is a float, which targets
// hold as u8. A bitcast from or to i8 is done by way of u8; nullopt for u8,
// since that changes nothing.
std::optional<Term> ByteBitcast(Term a, DType to) {
  if (a.type() == DType::kI8) return Bitcast(Bitcast(a, DType::kU8), to);
  if (to == DType::kI8) return Bitcast(Bitcast(a, DType::kU8), to);
  return std::nullopt;
}

std::optional<Term> NarrowBitcast(Term a, DType to,
                                  const TargetOperations& target) {
  if (IsByte(to))
    return target.narrow_integers ? std::nullopt : ByteBitcast(a, to);
  return target.wide_halves ? std::optional(HalfBitcast(a, to)) : std::nullopt;
}

// Returns a cast from or to a narrow float; nullopt if the target has that
// cast.
std::optional<Term> NarrowCast(Term a, DType to, bool is_raw,
                               const TargetOperations& target) {
  const DType from = a.type();
  if (from == DType::kF32) return ToNarrow(a, to, is_raw, target);
  if (to == DType::kF32) return FromNarrow(a, target);
  if (IsNarrowFloat(from)) return Cast(Cast(a, DType::kF32), to);
  if (from == DType::kF64) return Cast(OddFloat(a), to);
  if (DTypeByteSize(from) < 4) return Cast(Cast(a, DType::kF32), to);
  return Cast(
      target.cheap_doubles ? OddFloat(OddDouble(a)) : OddFloatOfInteger(a), to);
}

}  // namespace

std::optional<NodeId> NarrowCasts(Legaliser& legaliser,
                                  const Instruction& instruction) {
  const bool is_bitcast = instruction.opcode == Opcode::kBitcast;
  if (instruction.opcode != Opcode::kCast && !is_bitcast) return std::nullopt;
  const Term a(legaliser, instruction.operands[0]);
  const DType to = instruction.type;
  if (!IsNarrowFloat(a.type()) && !IsNarrowFloat(to)) return std::nullopt;
  const TargetOperations& target = legaliser.target();
  const std::optional<Term> result =
      is_bitcast ? NarrowBitcast(a, to, target)
                 : NarrowCast(a, to, instruction.is_raw, target);
  return result ? std::optional(result->id()) : std::nullopt;
}

}  // namespace ember::jit::legalise
