#include "jit/c/types.h"

#include <bit>
#include <cmath>
#include <cstdio>

#include "base/concat.h"
#include "tensor/scalar.h"

namespace ember::jit::c {
namespace {

// Largest integer literal that has a type of C without a suffix.
constexpr int64_t kMaxPlain = INT32_MAX;

std::string IntegerLiteral(int64_t value) {
  if (value == INT64_MIN) return "(-INT64_C(9223372036854775807) - 1)";
  if (value >= -kMaxPlain && value <= kMaxPlain) return std::to_string(value);
  return value < 0 ? Concat({"-INT64_C(", -value, ")"})
                   : Concat({"INT64_C(", value, ")"});
}

// Returns a text of the number that is exact and that C11 reads: a hexadecimal
// float, the shortest such text.
std::string HexadecimalFloat(double value) {
  char text[40];
  std::snprintf(text, sizeof(text), "%a", value);
  return text;
}

std::string FloatLiteral(DType type, uint64_t bits) {
  const double value = tensor::BitsToDouble(bits, type);
  const bool is_double = type == DType::kF64;
  if (std::isfinite(value))
    return HexadecimalFloat(value) + (is_double ? "" : "f");
  return is_double ? Concat({"ember_f64_of_u64(UINT64_C(", bits, "))"})
                   : Concat({"ember_f32_of_u32(UINT32_C(", bits, "))"});
}

}  // namespace

std::string_view TypeOf(DType type) {
  switch (type) {
    case DType::kBool:
    case DType::kU8:
    case DType::kF8E4M3FN:
    case DType::kF8E5M2:
      return "uint8_t";
    case DType::kI8:
      return "int8_t";
    case DType::kI16:
      return "int16_t";
    case DType::kI32:
      return "int32_t";
    case DType::kI64:
      return "int64_t";
    case DType::kU16:
    case DType::kF16:
    case DType::kBF16:
      return "uint16_t";
    case DType::kU32:
      return "uint32_t";
    case DType::kU64:
      return "uint64_t";
    case DType::kF32:
      return "float";
    case DType::kF64:
      return "double";
  }
  return "";
}

std::string_view WrappingTypeOf(DType type) {
  return DTypeByteSize(type) == 8 ? "uint64_t" : "uint32_t";
}

std::string LiteralOf(DType type, uint64_t bits) {
  switch (type) {
    case DType::kF32:
    case DType::kF64:
      return FloatLiteral(type, bits);
    case DType::kU64:
      return Concat({"UINT64_C(", bits, ")"});
    case DType::kU32:
      return Concat({bits, "u"});
    case DType::kBool:
    case DType::kU8:
    case DType::kU16:
    case DType::kF16:
    case DType::kBF16:
    case DType::kF8E4M3FN:
    case DType::kF8E5M2:
      return std::to_string(bits);
    case DType::kI8:
    case DType::kI16:
    case DType::kI32:
    case DType::kI64:
      return IntegerLiteral(tensor::BitsToInteger(bits, type));
  }
  return "";
}

std::string SizeLiteral(int64_t value) {
  if (value >= 0 && value <= kMaxPlain) return std::to_string(value);
  return Concat({"(size_t)", IntegerLiteral(value)});
}

}  // namespace ember::jit::c
