#include "jit/spirv/conversions.h"

#include <bit>
#include <cmath>
#include <limits>

#include "tensor/scalar.h"

namespace ember::jit::spirv {

Scalar RegisterType(DType type) {
  switch (type) {
    case DType::kBool:
      return Scalar::kBool;
    case DType::kI8:
    case DType::kI16:
    case DType::kI32:
    case DType::kU8:
    case DType::kU16:
    case DType::kU32:
      return Scalar::kI32;
    case DType::kI64:
    case DType::kU64:
      return Scalar::kI64;
    case DType::kF16:
    case DType::kBF16:
    case DType::kF32:
      return Scalar::kF32;
    case DType::kF64:
      return Scalar::kF64;
  }
  return Scalar::kBool;
}

Scalar MemoryType(DType type) {
  switch (type) {
    case DType::kBool:
    case DType::kI8:
    case DType::kU8:
      return Scalar::kI8;
    case DType::kI16:
    case DType::kU16:
    case DType::kBF16:
      return Scalar::kI16;
    case DType::kF16:
      return Scalar::kF16;
    case DType::kI32:
    case DType::kU32:
    case DType::kI64:
    case DType::kU64:
    case DType::kF32:
    case DType::kF64:
      break;
  }
  return RegisterType(type);
}

Value Conversions::Float(double value) {
  return c_.Constant(Scalar::kF32,
                     std::bit_cast<uint32_t>(static_cast<float>(value)));
}
Value Conversions::Double(double value) {
  return c_.Constant(Scalar::kF64, std::bit_cast<uint64_t>(value));
}

Value Conversions::Constant(DType type, uint64_t bits) {
  switch (RegisterType(type)) {
    case Scalar::kBool:
      return c_.Bool((bits & 0xff) != 0);
    case Scalar::kI32:
    case Scalar::kI64:
      return c_.Constant(
          RegisterType(type),
          static_cast<uint64_t>(tensor::BitsToInteger(bits, type)));
    case Scalar::kF32:
      if (type == DType::kF32) return c_.Constant(Scalar::kF32, bits);
      return c_.Constant(
          Scalar::kF32,
          std::bit_cast<uint32_t>(
              type == DType::kF16
                  ? ToFloat(Float16{static_cast<uint16_t>(bits)})
                  : ToFloat(BFloat16{static_cast<uint16_t>(bits)})));
    default:
      return c_.Constant(Scalar::kF64, bits);
  }
}

// --- memory

Value Conversions::FromMemory(DType type, Value element) {
  switch (type) {
    case DType::kBool:
      return c_.Not(c_.Equal(
          c_.Unary(spv::Op::OpUConvert, Scalar::kI32, element), Word(0)));
    case DType::kI8:
    case DType::kI16:
      return c_.Unary(spv::Op::OpSConvert, Scalar::kI32, element);
    case DType::kU8:
    case DType::kU16:
      return c_.Unary(spv::Op::OpUConvert, Scalar::kI32, element);
    case DType::kF16:
      return FromHalf(element);
    case DType::kBF16:
      return AsFloat(c_.ShiftLeft(
          c_.Unary(spv::Op::OpUConvert, Scalar::kI32, element), Word(16)));
    case DType::kI32:
    case DType::kU32:
    case DType::kI64:
    case DType::kU64:
    case DType::kF32:
    case DType::kF64:
      break;
  }
  return element;
}

Value Conversions::ToMemory(DType type, Value value) {
  switch (type) {
    case DType::kBool:
      value = c_.Select(value, Word(1), Word(0));
      break;
    case DType::kBF16:
      value = c_.ShiftRight(AsWord(value), Word(16));
      break;
    case DType::kF16:
      return Half(value);
    case DType::kI8:
    case DType::kU8:
    case DType::kI16:
    case DType::kU16:
      break;
    case DType::kI32:
    case DType::kU32:
    case DType::kI64:
    case DType::kU64:
    case DType::kF32:
    case DType::kF64:
      return value;
  }
  return c_.Unary(spv::Op::OpUConvert, MemoryType(type), value);
}

Value Conversions::FromWord(DType type, Value word, uint32_t lane) {
  const auto bits = static_cast<uint32_t>(8 * DTypeByteSize(type));
  if (bits == 32) return type == DType::kF32 ? AsFloat(word) : word;
  const uint32_t above = 32 - bits * (lane + 1);
  switch (type) {
    case DType::kI8:
    case DType::kI16:
      return c_.Binary(spv::Op::OpShiftRightArithmetic, Scalar::kI32,
                       c_.ShiftLeft(word, Word(above)), Word(32 - bits));
    case DType::kF16: {
      const Id pair = c_.PairOfHalves(word);
      return c_.Component(Scalar::kF32, pair, lane);
    }
    case DType::kBF16:
      return AsFloat(lane == 0 ? c_.ShiftLeft(word, Word(16))
                               : c_.BitAnd(word, Word(0xffff0000)));
    default:
      break;
  }
  const Value element =
      c_.BitAnd(c_.ShiftRight(word, Word(bits * lane)), Word((1u << bits) - 1));
  return type == DType::kBool ? c_.Not(c_.Equal(element, Word(0))) : element;
}

Value Conversions::ToWord(DType type, std::span<const Value> values) {
  if (type == DType::kF16) return c_.FromHalves(c_.Vector(values));
  const auto bits = static_cast<uint32_t>(8 * DTypeByteSize(type));
  Value word = Word(0);
  for (uint32_t lane = 0; lane < values.size(); ++lane) {
    Value element = ToBits(type, values[lane]);
    if (lane + 1 < values.size())
      element = c_.BitAnd(element, Word((1u << bits) - 1));
    word = c_.BitOr(c_.ShiftLeft(element, Word(bits * lane)), word);
  }
  return word;
}

Value Conversions::Fit(DType type, Value wide) {
  switch (type) {
    case DType::kI8:
    case DType::kI16: {
      const Value shift = Word(type == DType::kI8 ? 24 : 16);
      return c_.Binary(spv::Op::OpShiftRightArithmetic, Scalar::kI32,
                       c_.ShiftLeft(wide, shift), shift);
    }
    case DType::kU8:
      return c_.BitAnd(wide, Word(0xff));
    case DType::kU16:
      return c_.BitAnd(wide, Word(0xffff));
    case DType::kF16:
      return RoundToHalf(wide);
    case DType::kBF16:
      return RoundToBFloat(wide);
    case DType::kBool:
    case DType::kI32:
    case DType::kU32:
    case DType::kI64:
    case DType::kU64:
    case DType::kF32:
    case DType::kF64:
      break;
  }
  return wide;
}

// --- 16-bit floats

Value Conversions::Half(Value value) {
  const auto known = halves_.find(value.id);
  if (known != halves_.end()) return {known->second, Scalar::kF16};
  return c_.Unary(spv::Op::OpFConvert, Scalar::kF16, value);
}

Value Conversions::FromHalf(Value half) {
  const Value value = c_.Unary(spv::Op::OpFConvert, Scalar::kF32, half);
  halves_[value.id] = half.id;
  return value;
}

Value Conversions::RoundToBFloat(Value value) {
  const Value bits = AsWord(value);
  const Value odd = c_.BitAnd(c_.ShiftRight(bits, Word(16)), Word(1));
  const Value rounded = c_.Add(c_.Add(bits, Word(0x7fff)), odd);
  const Value quiet = c_.BitOr(bits, Word(0x400000));
  const Value result = c_.Select(IsNan(value), quiet, rounded);
  return AsFloat(c_.BitAnd(result, Word(0xffff0000)));
}

Value Conversions::RoundToHalf(Value value) {
  if (target_.float16.rte && target_.float16.nan) {
    return c_.Unary(spv::Op::OpFConvert, Scalar::kF32,
                    c_.Unary(spv::Op::OpFConvert, Scalar::kF16, value));
  }
  return HalfFromBits(HalfBits(value));
}

// In integers, so that it is the same everywhere: subnormal results are counted
// in units of 2^-24, others rounded where 13 bits are cut off.
Value Conversions::HalfBits(Value value) {
  const Value bits = AsWord(value);
  const Value sign = c_.BitAnd(c_.ShiftRight(bits, Word(16)), Word(0x8000));
  const Value size = c_.BitAnd(bits, Word(0x7fffffff));
  // 2^-14 and above.
  const Value odd = c_.BitAnd(c_.ShiftRight(size, Word(13)), Word(1));
  const Value rebiased =
      c_.Add(c_.Add(c_.Subtract(size, Word(112u << 23)), Word(0xfff)), odd);
  const Value normal = c_.ShiftRight(rebiased, Word(13));
  // Below: the mantissa with its leading one, shifted to units of 2^-24.
  const Value exponent = c_.ShiftRight(size, Word(23));
  const Value mantissa =
      c_.BitOr(c_.BitAnd(size, Word(0x7fffff)), Word(0x800000));
  const Value wanted = c_.Subtract(Word(126), exponent);
  const Value shift =
      c_.Select(c_.Less(wanted, Word(31), true), wanted, Word(31));
  const Value kept = c_.ShiftRight(mantissa, shift);
  const Value half_unit = c_.ShiftLeft(Word(1), c_.Subtract(shift, Word(1)));
  const Value lost =
      c_.BitAnd(mantissa, c_.Subtract(c_.ShiftLeft(Word(1), shift), Word(1)));
  const Value is_tie = c_.Equal(lost, half_unit);
  const Value goes_up =
      c_.Or(c_.Less(half_unit, lost, false),
            c_.And(is_tie, c_.Equal(c_.BitAnd(kept, Word(1)), Word(1))));
  const Value subnormal = c_.Add(kept, c_.Select(goes_up, Word(1), Word(0)));
  Value result =
      c_.Select(c_.Less(size, Word(113u << 23), false), subnormal, normal);
  // 65520 and above.
  result =
      c_.Select(c_.Less(size, Word(0x477ff000), false), result, Word(0x7c00));
  const Value nan = c_.BitOr(
      c_.BitAnd(c_.ShiftRight(size, Word(13)), Word(0x3ff)), Word(0x7e00));
  result = c_.Select(c_.Less(Word(0x7f800000), size, false), nan, result);
  return c_.BitOr(result, sign);
}

Value Conversions::HalfFromBits(Value bits) {
  const Value sign = c_.ShiftLeft(c_.BitAnd(bits, Word(0x8000)), Word(16));
  const Value size = c_.BitAnd(bits, Word(0x7fff));
  const Value shifted = c_.ShiftLeft(size, Word(13));
  const Value normal = c_.Add(shifted, Word(112u << 23));
  const Value large = c_.Add(shifted, Word(224u << 23));
  const Value units = c_.Unary(spv::Op::OpConvertUToF, Scalar::kF32, size);
  const Value subnormal = AsWord(c_.Pure(spv::Op::OpFMul, Scalar::kF32,
                                         {units.id, Float(0x1p-24).id}, true));
  Value result =
      c_.Select(c_.Less(size, Word(0x400), false), subnormal, normal);
  result = c_.Select(c_.Less(size, Word(0x7c00), false), result, large);
  return AsFloat(c_.BitOr(result, sign));
}

// --- casts

Value Conversions::Cast(DType from, DType to, Value value) {
  if (from == to) return value;
  if (to == DType::kBool) {
    if (!IsFloat(from)) return c_.Not(c_.Equal(value, c_.Like(value, 0)));
    return c_.Binary(spv::Op::OpFUnordNotEqual, Scalar::kBool, value,
                     c_.Like(value, 0));
  }
  if (from == DType::kBool) {
    return c_.Select(value, Constant(to, tensor::OneBits(to)),
                     Constant(to, tensor::ZeroBits(to)));
  }
  if (IsFloat(from)) {
    return IsFloat(to) ? FloatToFloat(from, to, value)
                       : FloatToInteger(to, value);
  }
  if (IsFloat(to)) return IntegerToFloat(from, to, value);
  if (RegisterType(to) == Scalar::kI64) return c_.ToLong(value, IsSigned(from));
  return Fit(to, c_.ToWord(value));
}

Value Conversions::FloatToInteger(DType to, Value value) {
  const int bits = 8 * DTypeByteSize(to);
  const auto number = [&](double x) {
    return value.type == Scalar::kF64 ? Double(x) : Float(x);
  };
  const double end = std::ldexp(1.0, IsSigned(to) ? bits - 1 : bits);
  const double low = IsSigned(to) ? -end : 0.0;
  const Scalar type = RegisterType(to);
  // Small unsigned ones fit a signed word.
  const bool is_signed = IsSigned(to) || bits < 32;
  Value result = c_.Unary(
      is_signed ? spv::Op::OpConvertFToS : spv::Op::OpConvertFToU, type, value);
  const Value largest = Constant(to, tensor::LargestBits(to));
  const Value smallest = Constant(to, tensor::SmallestBits(to));
  result = c_.Select(FloatLess(value, number(end)), result, largest);
  result = c_.Select(FloatLess(number(low), value), result, smallest);
  return c_.Select(IsNan(value), Constant(to, 0), result);
}

Value Conversions::FloatToFloat(DType from, DType to, Value value) {
  if (to == DType::kF64)
    return c_.Unary(spv::Op::OpFConvert, Scalar::kF64, value);
  if (from == DType::kF64) {
    if (to == DType::kF32)
      return c_.Unary(spv::Op::OpFConvert, Scalar::kF32, value);
    value = ToOddFloat(value);
  }
  return Fit(to, value);
}

// A float with its last bit set whenever anything was lost.
Value Conversions::ToOddFloat(Value value) {
  const Value nearest = c_.Unary(spv::Op::OpFConvert, Scalar::kF32, value);
  const Value back = c_.Unary(spv::Op::OpFConvert, Scalar::kF64, nearest);
  const Value back_size = c_.Call(GLSLstd450FAbs, back);
  const Value size = c_.Call(GLSLstd450FAbs, value);
  const Value is_inexact = c_.And(
      c_.Binary(spv::Op::OpFOrdNotEqual, Scalar::kBool, back, value),
      FloatLess(back_size, Double(std::numeric_limits<double>::infinity())));
  const Value bits = AsWord(nearest);
  const Value below = c_.Subtract(
      bits, c_.Select(FloatLess(size, back_size), Word(1), Word(0)));
  return AsFloat(c_.Select(is_inexact, c_.BitOr(below, Word(1)), bits));
}

Value Conversions::IntegerToFloat(DType from, DType to, Value value) {
  const spv::Op convert =
      IsSigned(from) ? spv::Op::OpConvertSToF : spv::Op::OpConvertUToF;
  if (to == DType::kF64) return c_.Unary(convert, Scalar::kF64, value);
  if (to == DType::kF32) return c_.Unary(convert, Scalar::kF32, value);
  if (DTypeByteSize(from) < 4)
    return Fit(to, c_.Unary(convert, Scalar::kF32, value));
  return Fit(to, IntegerToOddFloat(from, value));
}

// Needs no doubles: the magnitude as a float, moved below it and made odd if
// it is not the same.
Value Conversions::IntegerToOddFloat(DType from, Value value) {
  const Value zero = c_.Like(value, 0);
  const Value negative =
      IsSigned(from) ? c_.Less(value, zero, true) : c_.Bool(false);
  Value magnitude = c_.Select(negative, c_.Subtract(zero, value), value);
  // One bit less, so that a float rounded up is an integer of this width.
  const Value last = c_.Like(value, BitsOf(value.type) - 1);
  const Value is_large = c_.Not(c_.Equal(c_.ShiftRight(magnitude, last), zero));
  const Value one = c_.Like(value, 1);
  const Value halved =
      c_.BitOr(c_.ShiftRight(magnitude, one), c_.BitAnd(magnitude, one));
  magnitude = c_.Select(is_large, halved, magnitude);
  const Value nearest =
      c_.Unary(spv::Op::OpConvertUToF, Scalar::kF32, magnitude);
  const Value back = c_.Unary(spv::Op::OpConvertFToU, value.type, nearest);
  const Value bits = AsWord(nearest);
  const Value below = c_.Subtract(
      bits, c_.Select(c_.Less(magnitude, back, false), Word(1), Word(0)));
  const Value odd = AsFloat(
      c_.Select(c_.Equal(back, magnitude), bits, c_.BitOr(below, Word(1))));
  const Value scale = c_.Select(is_large, Float(2), Float(1));
  const Value result =
      c_.Pure(spv::Op::OpFMul, Scalar::kF32, {odd.id, scale.id}, true);
  return c_.Select(negative, c_.Unary(spv::Op::OpFNegate, Scalar::kF32, result),
                   result);
}

// --- bits

Value Conversions::ToBits(DType type, Value value) {
  switch (type) {
    case DType::kBool:
      return c_.Select(value, Word(1), Word(0));
    case DType::kF16:
      return HalfBits(value);
    case DType::kBF16:
      return c_.ShiftRight(AsWord(value), Word(16));
    case DType::kF32:
      return AsWord(value);
    case DType::kF64:
      return c_.Unary(spv::Op::OpBitcast, Scalar::kI64, value);
    case DType::kI8:
    case DType::kI16:
    case DType::kI32:
    case DType::kI64:
    case DType::kU8:
    case DType::kU16:
    case DType::kU32:
    case DType::kU64:
      break;
  }
  return value;
}

Value Conversions::FromBits(DType type, Value bits) {
  switch (type) {
    case DType::kBool:
      return c_.Not(c_.Equal(bits, Word(0)));
    case DType::kF16:
      return HalfFromBits(bits);
    case DType::kBF16:
      return AsFloat(c_.ShiftLeft(bits, Word(16)));
    case DType::kF32:
      return AsFloat(bits);
    case DType::kF64:
      return c_.Unary(spv::Op::OpBitcast, Scalar::kF64, bits);
    case DType::kI8:
    case DType::kI16:
    case DType::kI32:
    case DType::kI64:
    case DType::kU8:
    case DType::kU16:
    case DType::kU32:
    case DType::kU64:
      break;
  }
  return Fit(type, bits);
}

Value Conversions::Bitcast(DType from, DType to, Value value) {
  return FromBits(to, ToBits(from, value));
}

}  // namespace ember::jit::spirv
