#include "tensor/scalar.h"

#include <cstring>

#include "base/check.h"
#include "base/float_format.h"
#include "tensor/semantics.h"

namespace ember::tensor {
namespace {

using semantics::TypesOf;

template <DType type>
using Compute = typename TypesOf<type>::Compute;
template <DType type>
using Storage = typename TypesOf<type>::Storage;

template <typename T>
T FromBits(uint64_t bits) {
  T value;
  std::memcpy(static_cast<void*>(&value), &bits, sizeof(T));
  return value;
}
template <typename T>
uint64_t ToBits(T value) {
  uint64_t bits = 0;
  std::memcpy(&bits, static_cast<const void*>(&value), sizeof(T));
  return bits;
}

template <DType type>
Compute<type> Read(uint64_t bits) {
  if constexpr (type == DType::kBool) {
    return (bits & 0xff) != 0;
  } else {
    return semantics::Widen(FromBits<Storage<type>>(bits));
  }
}
template <DType type>
uint64_t Write(Compute<type> value) {
  return ToBits(semantics::Narrow<Storage<type>>(value));
}

// Calls function.operator()<type>() with the run-time dtype as a template
// argument. Narrow floats are not supported: one function converts all of them
// (base/float_format.h).
template <typename Function>
auto WithType(DType type, Function&& function) {
  switch (type) {
#define EMBER_ROW(name, ...)                                 \
  case DType::k##name:                                       \
    if constexpr (!IsNarrowFloat(DType::k##name))            \
      return function.template operator()<DType::k##name>(); \
    break;
    EMBER_FOR_EACH_DTYPE(EMBER_ROW)
#undef EMBER_ROW
  }
  EMBER_CHECK(false) << "dtype " << static_cast<int>(type);
  __builtin_unreachable();
}

// Evaluates an instruction in `type`, the widest type of the operands' kind
// (bool, signed, unsigned or float). EvaluateScalar converts operands of other
// types to this type and the result back.
template <DType type>
uint64_t Arithmetic(Opcode opcode, uint64_t first, uint64_t second) {
  const Compute<type> a = Read<type>(first);
  const Compute<type> b = Read<type>(second);
  switch (opcode) {
#define EMBER_ROW(name, text, kinds, doc)                 \
  case Opcode::k##name:                                   \
    if constexpr (AcceptsType(OperandKinds::kinds, type)) \
      return Write<type>(semantics::name(a));             \
    break;
    EMBER_FOR_EACH_UNARY_INSTRUCTION(EMBER_ROW)
#undef EMBER_ROW
#define EMBER_ROW(name, text, kinds, doc)                 \
  case Opcode::k##name:                                   \
    if constexpr (AcceptsType(OperandKinds::kinds, type)) \
      return semantics::name(a);                          \
    break;
    EMBER_FOR_EACH_CLASSIFY_INSTRUCTION(EMBER_ROW)
#undef EMBER_ROW
#define EMBER_ROW(name, text, notation, kinds, doc)       \
  case Opcode::k##name:                                   \
    if constexpr (AcceptsType(OperandKinds::kinds, type)) \
      return Write<type>(semantics::name(a, b));          \
    break;
    EMBER_FOR_EACH_BINARY_INSTRUCTION(EMBER_ROW)
#undef EMBER_ROW
#define EMBER_ROW(name, text, notation, kinds, doc)       \
  case Opcode::k##name:                                   \
    if constexpr (AcceptsType(OperandKinds::kinds, type)) \
      return semantics::name(a, b);                       \
    break;
    EMBER_FOR_EACH_COMPARE_INSTRUCTION(EMBER_ROW)
#undef EMBER_ROW
    default:
      break;
  }
  EMBER_CHECK(false) << InfoOf(opcode).text << " of " << DTypeName(type);
  return 0;
}

template <typename Wide>
uint64_t CastFrom(Wide value, DType to) {
  if (IsNarrowFloat(to))
    return EncodeNarrowFloat(semantics::ToOddDouble(value), to);
  return WithType(to, [&]<DType type>() -> uint64_t {
    using To = std::conditional_t<type == DType::kBool, bool, Storage<type>>;
    return ToBits(semantics::Cast<To>(value));
  });
}

// Casts a value from one type to another. The value is converted to the widest
// type of its kind first, which is exact, so the result is the same as that of
// a direct cast.
uint64_t CastBits(uint64_t bits, DType from, DType to) {
  switch (KindOf(from)) {
    case DTypeKind::kBool:
      return CastFrom<uint64_t>((bits & 0xff) != 0, to);
    case DTypeKind::kSigned:
      return CastFrom<int64_t>(BitsToInteger(bits, from), to);
    case DTypeKind::kUnsigned:
      return CastFrom<uint64_t>(bits, to);
    case DTypeKind::kFloat:
      return CastFrom<double>(BitsToDouble(bits, from), to);
  }
  return 0;
}

// Evaluates an instruction on operands of a narrow float type: computes in f32
// and rounds the result.
uint64_t InFloat(Opcode opcode, DType type, ScalarOperands operands) {
  const auto widened = [&](uint64_t bits) {
    return ToBits(static_cast<float>(BitsToDouble(bits, type)));
  };
  const uint64_t result =
      Arithmetic<DType::kF32>(opcode, widened(operands.a), widened(operands.b));
  const InstructionGroup group = InfoOf(opcode).group;
  const bool is_truth = group == InstructionGroup::kClassify ||
                        group == InstructionGroup::kCompare;
  return is_truth ? result : DoubleToBits(FromBits<float>(result), type);
}

uint64_t LargestFloat(DType type) {
  const FloatFormat format = FloatFormatOf(type);
  return format.has_infinity() ? format.past_finite : LargestFiniteBits(type);
}

uint64_t CutToType(uint64_t bits, DType type) {
  return IntegerToBits(static_cast<int64_t>(bits), type);
}

}  // namespace

uint64_t EvaluateScalar(Opcode opcode, DType operand_type, DType result_type,
                        ScalarOperands operands) {
  if (opcode == Opcode::kSelect)
    return (operands.a & 0xff) != 0 ? operands.b : operands.c;
  if (opcode == Opcode::kBitcast) return operands.a;
  if (opcode == Opcode::kCast) {
    return operand_type == result_type
               ? operands.a
               : CastBits(operands.a, operand_type, result_type);
  }
  // Narrow integers are computed in 64 bits. A value that wraps there wraps the
  // same when cut to fewer bits, and a shift that empties the narrow type
  // leaves none of its bits in the wide one. Narrow floats are computed in f32
  // by definition.
  const auto widened = [&](uint64_t bits) {
    return static_cast<uint64_t>(BitsToInteger(bits, operand_type));
  };
  switch (KindOf(operand_type)) {
    case DTypeKind::kBool:
      return Arithmetic<DType::kBool>(opcode, operands.a, operands.b);
    case DTypeKind::kSigned:
      return CutToType(Arithmetic<DType::kI64>(opcode, widened(operands.a),
                                               widened(operands.b)),
                       operand_type);
    case DTypeKind::kUnsigned:
      return CutToType(Arithmetic<DType::kU64>(opcode, widened(operands.a),
                                               widened(operands.b)),
                       operand_type);
    case DTypeKind::kFloat:
      break;
  }
  if (operand_type == DType::kF64)
    return Arithmetic<DType::kF64>(opcode, operands.a, operands.b);
  if (IsNarrowFloat(operand_type))
    return InFloat(opcode, operand_type, operands);
  return Arithmetic<DType::kF32>(opcode, operands.a, operands.b);
}

uint64_t IntegerToBits(int64_t value, DType type) {
  if (type == DType::kBool) return value != 0;
  const int bits = 8 * DTypeByteSize(type);
  const uint64_t raw = static_cast<uint64_t>(value);
  return bits == 64 ? raw : raw & ((uint64_t{1} << bits) - 1);
}

int64_t BitsToInteger(uint64_t bits, DType type) {
  const int unused = 64 - 8 * DTypeByteSize(type);
  const int64_t shifted = static_cast<int64_t>(bits << unused);
  return IsSigned(type)
             ? shifted >> unused
             : static_cast<int64_t>(static_cast<uint64_t>(shifted) >> unused);
}

uint64_t DoubleToBits(double value, DType type) {
  return CastFrom<double>(value, type);
}

double BitsToDouble(uint64_t bits, DType type) {
  if (IsNarrowFloat(type)) return DecodeNarrowFloat(bits, type);
  return WithType(
      type, [&]<DType t>() { return static_cast<double>(Read<t>(bits)); });
}

uint64_t LoadElement(const void* data, int64_t index, DType type) {
  const size_t size = static_cast<size_t>(DTypeByteSize(type));
  uint64_t bits = 0;
  std::memcpy(
      &bits, static_cast<const char*>(data) + static_cast<size_t>(index) * size,
      size);
  return bits;
}

void StoreElement(void* data, int64_t index, DType type, uint64_t bits) {
  const size_t size = static_cast<size_t>(DTypeByteSize(type));
  std::memcpy(static_cast<char*>(data) + static_cast<size_t>(index) * size,
              &bits, size);
}

uint64_t LargestFiniteBits(DType type) {
  return FloatFormatOf(type).past_finite - 1;
}

uint64_t ZeroBits(DType) { return 0; }
uint64_t OneBits(DType type) { return DoubleToBits(1, type); }
uint64_t LargestBits(DType type) {
  if (IsFloat(type)) return LargestFloat(type);
  if (type == DType::kBool) return 1;
  const uint64_t ones = ~uint64_t{0} >> (64 - 8 * DTypeByteSize(type));
  return IsSigned(type) ? ones >> 1 : ones;
}
uint64_t SmallestBits(DType type) {
  const uint64_t sign = uint64_t{1} << (8 * DTypeByteSize(type) - 1);
  if (IsFloat(type)) return LargestFloat(type) | sign;
  return IsSigned(type) ? sign : 0;
}

}  // namespace ember::tensor
