#include "tensor/text/literal.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <limits>

#include "base/float_format.h"
#include "tensor/range_rules.h"
#include "tensor/scalar.h"

namespace ember::tensor {
namespace {

template <typename T>
std::string Shortest(T value) {
  char buffer[64];
  const std::to_chars_result result =
      std::to_chars(buffer, buffer + sizeof(buffer), value);
  return std::string(buffer, result.ptr);
}

// Returns the decimal text with the fewest digits that rounds to these bits of
// a narrow float type.
std::string ShortestNarrow(double value, uint64_t bits, DType type) {
  char buffer[64];
  std::string text;
  for (int digits = 1; digits <= 17; ++digits) {
    const std::to_chars_result result =
        std::to_chars(buffer, buffer + sizeof(buffer), value,
                      std::chars_format::general, digits);
    text.assign(buffer, result.ptr);
    double parsed = 0;
    std::from_chars(text.data(), text.data() + text.size(), parsed);
    if (DoubleToBits(parsed, type) == bits) break;
  }
  return text;
}

std::string FormatFloat(uint64_t bits, DType type) {
  const double value = BitsToDouble(bits, type);
  if (std::isnan(value)) {
    if (bits == NanBits(type)) return "nan";
    char buffer[24];
    const std::to_chars_result result =
        std::to_chars(buffer, buffer + sizeof(buffer), bits, 16);
    return "bits(0x" + std::string(buffer, result.ptr) + ")";
  }
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  std::string text;
  if (type == DType::kF64) {
    text = Shortest(value);
  } else if (type == DType::kF32) {
    text = Shortest(static_cast<float>(value));
  } else {
    text = ShortestNarrow(value, bits, type);
  }
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

std::optional<uint64_t> IntegerBits(std::string_view text, bool negative,
                                    DType type) {
  const bool hex = text.size() > 2 && (text[1] | 0x20) == 'x';
  if (hex) text.remove_prefix(2);
  uint64_t magnitude = 0;
  const char* end = text.data() + text.size();
  const std::from_chars_result result =
      std::from_chars(text.data(), end, magnitude, hex ? 16 : 10);
  if (result.ec != std::errc() || result.ptr != end) return std::nullopt;
  if (type == DType::kU64) {
    return negative && magnitude != 0 ? std::nullopt : std::optional(magnitude);
  }
  const uint64_t limit = static_cast<uint64_t>(INT64_MAX) + (negative ? 1 : 0);
  if (magnitude > limit) return std::nullopt;
  const int64_t value =
      static_cast<int64_t>(negative ? 0 - magnitude : magnitude);
  if (type == DType::kBool || !RangeOfType(type).Contains(value))
    return std::nullopt;
  return IntegerToBits(value, type);
}

template <typename T>
std::optional<T> ParseFloat(std::string_view text) {
  const bool hex = text.size() > 2 && text[0] == '0' && (text[1] | 0x20) == 'x';
  if (hex) text.remove_prefix(2);
  T value = 0;
  const char* end = text.data() + text.size();
  const std::from_chars_result result = std::from_chars(
      text.data(), end, value,
      hex ? std::chars_format::hex : std::chars_format::general);
  if (result.ec != std::errc() || result.ptr != end) return std::nullopt;
  return value;
}

}  // namespace

std::string FormatLiteral(uint64_t bits, DType type) {
  if (type == DType::kBool) return bits != 0 ? "true" : "false";
  if (IsFloat(type)) return FormatFloat(bits, type);
  if (type == DType::kU64) return Shortest(bits);
  return Shortest(BitsToInteger(bits, type));
}

std::optional<uint64_t> NumberBits(std::string_view text, bool is_float_token,
                                   bool negative, DType type) {
  if (!IsFloat(type)) {
    return is_float_token ? std::nullopt : IntegerBits(text, negative, type);
  }
  // The text is read directly as f32, because a conversion through double would
  // round twice.
  if (type == DType::kF32) {
    const std::optional<float> value = ParseFloat<float>(text);
    if (!value || std::isinf(*value)) return std::nullopt;
    return std::bit_cast<uint32_t>(negative ? -*value : *value);
  }
  const std::optional<double> value = ParseFloat<double>(text);
  if (!value) return std::nullopt;
  const uint64_t bits = DoubleToBits(negative ? -*value : *value, type);
  if (!std::isfinite(BitsToDouble(bits, type))) return std::nullopt;
  return bits;
}

std::optional<uint64_t> InfinityBits(bool negative, DType type) {
  const FloatFormat format = FloatFormatOf(type);
  if (!format.has_infinity()) return std::nullopt;
  return format.past_finite | (negative ? format.sign_bit() : 0);
}

uint64_t NanBits(DType type) { return FloatFormatOf(type).quiet_nan; }

}  // namespace ember::tensor
