#include "jit/legalise/narrow_casts.h"

#include <limits>

#include "jit/legalise/half_bits.h"
#include "jit/legalise/value.h"

namespace ember::jit::legalise {
namespace {

// An f64 as an f32 with its last bit set whenever anything was lost.
Value OddFloat(Value value) {
  const Value nearest = Cast(value, DType::kF32);
  const Value back = Cast(nearest, DType::kF64);
  const Value back_size = Absolute(back);
  const Value infinity = value.Number(std::numeric_limits<double>::infinity());
  const Value is_inexact =
      ((back < value) | (value < back)) & (back_size < infinity);
  const Value bits = Bitcast(nearest, DType::kU32);
  const Value below = bits - Select(Absolute(value) < back_size,
                                    bits.Integer(1), bits.Integer(0));
  return Bitcast(Select(is_inexact, below | 1, bits), DType::kF32);
}

// The magnitude of an integer, without a sign.
struct Magnitude {
  Value size;
  std::optional<Value> negative;
};
Magnitude MagnitudeOf(Value value) {
  const bool is_long = DTypeByteSize(value.type()) == 8;
  const DType type = is_long ? DType::kU64 : DType::kU32;
  if (!IsSigned(value.type())) return {value, std::nullopt};
  const Value negative = value < 0;
  return {Cast(Select(negative, -value, value), type), negative};
}
Value WithSign(Value value, const Magnitude& magnitude) {
  if (!magnitude.negative) return value;
  return Select(*magnitude.negative, -value, value);
}

// A 64-bit integer as an f64, exactly but for bits that are gathered in its
// last one.
Value OddDouble(Value value) {
  if (DTypeByteSize(value.type()) < 8) return Cast(value, DType::kF64);
  const Magnitude magnitude = MagnitudeOf(value);
  const Value& size = magnitude.size;
  const Value gathered =
      (size & ~int64_t{0x7ff}) |
      Select((size & 0x7ff) != 0, size.Integer(0x800), size.Integer(0));
  const Value exact = Select((size >> 53) != 0, gathered, size);
  return WithSign(Cast(exact, DType::kF64), magnitude);
}

// An integer as an odd f32 without f64: the float next to the magnitude, moved
// below it and made odd if it is not the same.
Value OddFloatOfInteger(Value value) {
  const Magnitude magnitude = MagnitudeOf(value);
  Value size = magnitude.size;
  // One bit less, so that a float rounded up is an integer of this width.
  const Value is_large = (size >> (8 * DTypeByteSize(size.type()) - 1)) != 0;
  size = Select(is_large, (size >> 1) | (size & 1), size);
  const Value nearest = Cast(size, DType::kF32);
  const Value back = RawCast(nearest, size.type());
  const Value bits = Bitcast(nearest, DType::kU32);
  const Value below =
      bits - Select(size < back, bits.Integer(1), bits.Integer(0));
  const Value odd = Bitcast(Select(back == size, bits, below | 1), DType::kF32);
  const Value scale = Select(is_large, odd.Number(2), odd.Number(1));
  return WithSign(odd * scale, magnitude);
}

// Rounded to nearest even where 16 bits are cut off; NaNs become quiet.
Value RoundToBFloat(Value value) {
  const Value bits = Bitcast(value, DType::kU32);
  const Value odd = (bits >> 16) & 1;
  const Value rounded =
      Select(IsNan(value), bits | 0x400000, bits + 0x7fff + odd);
  return RawCast(Bitcast(rounded & 0xffff0000, DType::kF32), DType::kBF16);
}

Value HalfOfBits(Value bits, const TargetOperations& target) {
  if (target.wide_halves) return RawCast(DecodeHalf(bits), DType::kF16);
  return Bitcast(RawCast(bits, DType::kU16), DType::kF16);
}

// To f32.
std::optional<Value> FromNarrow(Value a, const TargetOperations& target) {
  if (a.type() == DType::kBF16 || target.half_conversions || target.wide_halves)
    return std::nullopt;
  return DecodeHalf(Cast(Bitcast(a, DType::kU16), DType::kU32));
}

// From f32.
std::optional<Value> ToNarrow(Value a, DType to, bool is_raw,
                              const TargetOperations& target) {
  if (is_raw &&
      (to == DType::kBF16 || target.half_conversions || target.wide_halves))
    return std::nullopt;
  if (to == DType::kBF16) return RoundToBFloat(a);
  if (target.half_conversions) return std::nullopt;
  return HalfOfBits(EncodeHalf(a), target);
}

Value NarrowBitcast(Value a, DType to) {
  if (a.type() == DType::kF16 || a.type() == DType::kBF16) {
    const Value single = Cast(a, DType::kF32);
    const Value bits = a.type() == DType::kF16
                           ? EncodeHalf(single)
                           : Bitcast(single, DType::kU32) >> 16;
    return Bitcast(RawCast(bits, DType::kU16), to);
  }
  const Value bits = Cast(Bitcast(a, DType::kU16), DType::kU32);
  const Value single =
      to == DType::kF16 ? DecodeHalf(bits) : Bitcast(bits << 16, DType::kF32);
  return RawCast(single, to);
}

// nullopt: the target has it.
std::optional<Value> NarrowCast(Value a, DType to, bool is_raw,
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
  const Value a(legaliser, instruction.operands[0]);
  const DType to = instruction.type;
  if (!IsNarrowFloat(a.type()) && !IsNarrowFloat(to)) return std::nullopt;
  const TargetOperations& target = legaliser.target();
  if (is_bitcast) {
    if (!target.wide_halves) return std::nullopt;
    return NarrowBitcast(a, to).id();
  }
  const std::optional<Value> cast =
      NarrowCast(a, to, instruction.is_raw, target);
  return cast ? std::optional(cast->id()) : std::nullopt;
}

}  // namespace ember::jit::legalise
