#include "jit/spirv/conversions.h"

#include <bit>

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
    case DType::kF8E4M3FN:
    case DType::kF8E5M2:
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
    case DType::kF8E4M3FN:
    case DType::kF8E5M2:
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
    case DType::kF8E4M3FN:
    case DType::kF8E5M2:
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
    case DType::kF8E4M3FN:
    case DType::kF8E5M2:
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

Value Conversions::ToBits(DType type, Value value) {
  if (type == DType::kBool) return c_.Select(value, Word(1), Word(0));
  if (type == DType::kBF16) return c_.ShiftRight(AsWord(value), Word(16));
  return value;
}

Value Conversions::Wrap(DType type, Value word) {
  switch (type) {
    case DType::kI8:
    case DType::kI16: {
      const Value shift = Word(type == DType::kI8 ? 24 : 16);
      return c_.Binary(spv::Op::OpShiftRightArithmetic, Scalar::kI32,
                       c_.ShiftLeft(word, shift), shift);
    }
    case DType::kU8:
      return c_.BitAnd(word, Word(0xff));
    case DType::kU16:
      return c_.BitAnd(word, Word(0xffff));
    default:
      return word;
  }
}

Value Conversions::Half(Value value) {
  const auto known = halves_.find(value.id);
  if (known != halves_.end()) return {known->second, Scalar::kF16};
  return c_.ConvertFloat(Scalar::kF16, value);
}

Value Conversions::FromHalf(Value half) {
  const Value value = c_.ConvertFloat(Scalar::kF32, half);
  halves_[value.id] = half.id;
  return value;
}

Value Conversions::Cast(DType from, DType to, bool is_raw, Value value) {
  if (from == to) return value;
  if (IsFloat(from)) {
    if (IsFloat(to)) return FloatToFloat(from, to, is_raw, value);
    return c_.Unary(
        IsSigned(to) ? spv::Op::OpConvertFToS : spv::Op::OpConvertFToU,
        RegisterType(to), value);
  }
  if (IsFloat(to)) {
    return c_.Unary(
        IsSigned(from) ? spv::Op::OpConvertSToF : spv::Op::OpConvertUToF,
        RegisterType(to), value);
  }
  if (RegisterType(to) == Scalar::kI64) return c_.ToLong(value, IsSigned(from));
  const Value word = c_.ToWord(value);
  return is_raw ? word : Wrap(to, word);
}

Value Conversions::FloatToFloat(DType from, DType to, bool is_raw,
                                Value value) {
  if (RegisterType(from) != RegisterType(to))
    return c_.ConvertFloat(RegisterType(to), value);
  if (to != DType::kF16 || is_raw) return value;
  return c_.ConvertFloat(Scalar::kF32, c_.ConvertFloat(Scalar::kF16, value));
}

Value Conversions::Bitcast(DType to, Value value) {
  const Scalar type = RegisterType(to);
  return type == value.type ? value : c_.Unary(spv::Op::OpBitcast, type, value);
}

}  // namespace ember::jit::spirv
