#include "jit/c_like/literals.h"

#include <cmath>
#include <cstdio>
#include <string_view>

#include "base/concat.h"
#include "jit/c_like/form.h"
#include "tensor/scalar.h"

namespace ember::jit::c_like {
namespace {

// Largest integer that is written as a literal without a suffix, because it has
// type int.
constexpr int64_t kMaxPlain = INT32_MAX;

// Smallest absolute value of an f32 whose sums with others lose their
// fractions.
constexpr double kLeastHidden = 1 << 22;

std::string Of(std::string_view form, const std::string& value) {
  return Fill(form, {{"value", value}});
}

std::string IntegerLiteral(const Language& language, int64_t value) {
  if (language.is_strict && value >= INT32_MIN && value <= INT32_MAX)
    return Of(language.literals.i32, std::to_string(value));
  const std::string_view form = language.literals.i64;
  if (value == INT64_MIN)
    return Concat({"(-", Of(form, std::to_string(INT64_MAX)), " - 1)"});
  if (value >= -kMaxPlain && value <= kMaxPlain) return std::to_string(value);
  return value < 0 ? Concat({"-", Of(form, std::to_string(-value))})
                   : Of(form, std::to_string(value));
}

// Returns the number as the shortest hexadecimal float of C99, which is exact.
std::string HexadecimalFloat(double value) {
  char text[40];
  std::snprintf(text, sizeof(text), "%a", value);
  return text;
}

std::string FloatLiteral(const Language& language, DType type, uint64_t bits) {
  const double value = tensor::BitsToDouble(bits, type);
  const Language::Literals& forms = language.literals;
  const bool is_double = type == DType::kF64;
  // A compiler that may reassociate must not see the numbers that round a sum,
  // as 2^23 does in (x + 2^23) - 2^23, so strict languages get their bits.
  const bool is_hidden = language.is_strict && std::abs(value) >= kLeastHidden;
  if (std::isfinite(value) && !is_hidden)
    return Of(is_double ? forms.f64 : forms.f32, HexadecimalFloat(value));
  return Of(is_double ? forms.infinite_f64 : forms.infinite_f32,
            std::to_string(bits));
}

}  // namespace

std::string LiteralOf(const Language& language, DType type, uint64_t bits) {
  switch (type) {
    case DType::kF32:
    case DType::kF64:
      return FloatLiteral(language, type, bits);
    case DType::kU64:
      return Of(language.literals.u64, std::to_string(bits));
    case DType::kU32:
      return Of(language.literals.u32, std::to_string(bits));
    case DType::kBool:
      return language.is_strict
                 ? Of(language.literals.boolean, std::to_string(bits))
                 : std::to_string(bits);
    case DType::kU8:
    case DType::kU16:
    case DType::kF16:
    case DType::kBF16:
    case DType::kF8E4M3FN:
    case DType::kF8E5M2:
      return language.is_strict
                 ? Of(language.literals.u32, std::to_string(bits))
                 : std::to_string(bits);
    case DType::kI8:
    case DType::kI16:
    case DType::kI32:
    case DType::kI64:
      return IntegerLiteral(language, tensor::BitsToInteger(bits, type));
  }
  return "";
}

std::string SizeLiteral(const Language& language, int64_t value) {
  if (value >= 0 && value <= kMaxPlain) return std::to_string(value);
  return CastTo(language, language.types.size, IntegerLiteral(language, value));
}

}  // namespace ember::jit::c_like
