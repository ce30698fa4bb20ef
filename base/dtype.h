// The table of the element types of tensors, and conversions of the narrow
// float types.
//
//   DTypeByteSize(DType::kF16) == 2;  DTypeName(DType::kI64) == "i64";
//
// The enum's numeric values are stored in module files, so new types are only
// appended. The table gives sizes in bits, so that types of 4 bits can join it.
//
// Source of the types of 8 bits: Open Compute Project, "OCP 8-bit Floating
// Point Specification (OFP8)", revision 1.0.
#ifndef EMBER_BASE_DTYPE_H_
#define EMBER_BASE_DTYPE_H_

#include <concepts>
#include <cstdint>
#include <optional>
#include <string_view>

namespace ember {

// Rows: (name, text, C++ storage type, bits, kind).
// clang-format off
#define EMBER_FOR_EACH_DTYPE(row) \
  row(Bool, "bool", uint8_t, 8, Bool) \
  row(I8, "i8", int8_t, 8, Signed) \
  row(I16, "i16", int16_t, 16, Signed) \
  row(I32, "i32", int32_t, 32, Signed) \
  row(I64, "i64", int64_t, 64, Signed) \
  row(U8, "u8", uint8_t, 8, Unsigned) \
  row(U16, "u16", uint16_t, 16, Unsigned) \
  row(U32, "u32", uint32_t, 32, Unsigned) \
  row(U64, "u64", uint64_t, 64, Unsigned) \
  row(F16, "f16", Float16, 16, Float) \
  row(BF16, "bf16", BFloat16, 16, Float) \
  row(F32, "f32", float, 32, Float) \
  row(F64, "f64", double, 64, Float) \
  row(F8E4M3FN, "f8e4m3fn", Float8E4M3FN, 8, Float) \
  row(F8E5M2, "f8e5m2", Float8E5M2, 8, Float)
// clang-format on

enum class DType : uint8_t {
#define EMBER_ROW(name, text, storage, bits, kind) k##name,
  EMBER_FOR_EACH_DTYPE(EMBER_ROW)
#undef EMBER_ROW
};

inline constexpr int kDTypeCount = 0
#define EMBER_ROW(name, text, storage, bits, kind) +1
    EMBER_FOR_EACH_DTYPE(EMBER_ROW)
#undef EMBER_ROW
    ;

enum class DTypeKind : uint8_t { kBool, kSigned, kUnsigned, kFloat };

struct DTypeInfo {
  std::string_view name;
  uint8_t bits;
  DTypeKind kind;
};

inline constexpr DTypeInfo kDTypeTable[] = {
#define EMBER_ROW(name, text, storage, bits, kind) \
  {text, bits, DTypeKind::k##kind},
    EMBER_FOR_EACH_DTYPE(EMBER_ROW)
#undef EMBER_ROW
};

constexpr bool IsValidDType(uint8_t raw) { return raw < kDTypeCount; }
constexpr std::string_view DTypeName(DType type) {
  return kDTypeTable[static_cast<int>(type)].name;
}
// Returns the number of bytes of one element, which is its number of bits
// divided by 8.
constexpr int DTypeByteSize(DType type) {
  return kDTypeTable[static_cast<int>(type)].bits / 8;
}
constexpr DTypeKind KindOf(DType type) {
  return kDTypeTable[static_cast<int>(type)].kind;
}
constexpr bool IsFloat(DType type) { return KindOf(type) == DTypeKind::kFloat; }
constexpr bool IsInteger(DType type) {
  return KindOf(type) == DTypeKind::kSigned ||
         KindOf(type) == DTypeKind::kUnsigned;
}
constexpr bool IsSigned(DType type) {
  return KindOf(type) == DTypeKind::kSigned;
}
// True if the type is narrower than float; its arithmetic is done in float.
constexpr bool IsNarrowFloat(DType type) {
  return IsFloat(type) && DTypeByteSize(type) < 4;
}
std::optional<DType> DTypeFromName(std::string_view name);

// The types that store narrow floats. Arithmetic on them is done in float and
// then rounded (to nearest even).
struct Float16 {
  uint16_t bits = 0;
};
struct BFloat16 {
  uint16_t bits = 0;
};
// A float of 8 bits with 4 bits of exponent and 3 of mantissa. It has finite
// values up to 448 (the "F" of the name), one NaN of either sign (the "N") and
// no infinity: a value that rounds to more than 448 becomes NaN.
struct Float8E4M3FN {
  uint8_t bits = 0;
};
// A float of 8 bits: 5 bits of exponent, 2 of mantissa, with infinities. Its
// bits are the upper half of a Float16.
struct Float8E5M2 {
  uint8_t bits = 0;
};
template <typename T>
concept NarrowFloat =
    std::same_as<T, Float16> || std::same_as<T, BFloat16> ||
    std::same_as<T, Float8E4M3FN> || std::same_as<T, Float8E5M2>;

float ToFloat(Float16 value);
float ToFloat(BFloat16 value);
float ToFloat(Float8E4M3FN value);
float ToFloat(Float8E5M2 value);

// Converts a float or a double to a narrow float type. It rounds once: a double
// is not converted to float first, which would round twice. A value that is too
// large becomes infinity, or NaN if the type has no infinity. A NaN stays a NaN
// and keeps its sign.
//
//   ToNarrowFloat<Float8E4M3FN>(1.0f).bits == 0x38
template <NarrowFloat T>
T ToNarrowFloat(float value);
template <NarrowFloat T>
T ToNarrowFloat(double value);
template <>
Float16 ToNarrowFloat(float value);
template <>
BFloat16 ToNarrowFloat(float value);
template <>
Float8E4M3FN ToNarrowFloat(float value);
template <>
Float8E5M2 ToNarrowFloat(float value);

inline Float16 ToFloat16(float value) { return ToNarrowFloat<Float16>(value); }
inline Float16 ToFloat16(double value) { return ToNarrowFloat<Float16>(value); }
inline BFloat16 ToBFloat16(float value) {
  return ToNarrowFloat<BFloat16>(value);
}
inline BFloat16 ToBFloat16(double value) {
  return ToNarrowFloat<BFloat16>(value);
}

}  // namespace ember

#endif  // EMBER_BASE_DTYPE_H_
