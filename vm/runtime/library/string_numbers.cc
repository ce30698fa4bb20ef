#include "vm/runtime/library/string_numbers.h"

#include <locale.h>
#include <stdlib.h>

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>

#include "base/concat.h"
#include "tensor/scalar.h"

namespace ember::vm {
namespace {

constexpr std::string_view kSpaces = " \t\n\v\f\r";

std::string_view Trim(std::string_view text) {
  const size_t begin = text.find_first_not_of(kSpaces);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpaces) - begin + 1);
}

bool EqualsIgnoringCase(std::string_view text, std::string_view lower) {
  if (text.size() != lower.size()) return false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if ((c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c) != lower[i]) return false;
  }
  return true;
}

// Returns the shortest text of a float with an exponent, in the form d.ddde+xx,
// from which the same value is read back.
std::string ShortestScientific(double value, DType type) {
  char text[64];
  const auto print = [&](auto number, auto... precision) {
    const std::to_chars_result end =
        std::to_chars(text, text + sizeof(text), number,
                      std::chars_format::scientific, precision...);
    return std::string(text, end.ptr);
  };
  if (type == DType::kF64) return print(value);
  if (type == DType::kF32) return print(static_cast<float>(value));
  const uint64_t bits = tensor::DoubleToBits(value, type);
  for (int precision = 0;; ++precision) {
    const std::string shown = print(value, precision);
    double again = 0;
    std::from_chars(shown.data(), shown.data() + shown.size(), again);
    if (tensor::DoubleToBits(again, type) == bits) return shown;
  }
}

std::string FloatText(double value, DType type) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value < 0 ? "-INF" : "INF";
  const std::string scientific = ShortestScientific(value, type);
  const size_t e = scientific.find('e');
  const int exponent = std::atoi(scientific.c_str() + e + 1);
  if (value != 0 && (exponent < -4 || exponent >= 16)) return scientific;
  const bool negative = scientific[0] == '-';
  std::string digits;
  for (const char c : std::string_view(scientific).substr(0, e)) {
    if (c >= '0' && c <= '9') digits += c;
  }
  std::string text = negative ? "-" : "";
  if (exponent < 0) {
    text += "0." + std::string(static_cast<size_t>(-exponent - 1), '0');
    return text + digits;
  }
  const size_t whole = static_cast<size_t>(exponent) + 1;
  if (digits.size() <= whole) {
    return text + digits + std::string(whole - digits.size(), '0') + ".0";
  }
  return text + digits.substr(0, whole) + "." + digits.substr(whole);
}

// Reads a number that is too large or too small for the type. Returns infinity,
// or zero or a number near zero.
float ReadExtreme(std::string_view digits, float) {
  static const locale_t kPlain = newlocale(LC_ALL_MASK, "C", nullptr);
  return strtof_l(std::string(digits).c_str(), nullptr, kPlain);
}
double ReadExtreme(std::string_view digits, double) {
  static const locale_t kPlain = newlocale(LC_ALL_MASK, "C", nullptr);
  return strtod_l(std::string(digits).c_str(), nullptr, kPlain);
}

// Reads a decimal number, or one of the words inf, infinity and nan in upper or
// lower case. The whole text must be the number.
template <typename T>
std::optional<T> ReadFloat(std::string_view text) {
  std::string_view digits = text;
  if (digits.starts_with('+')) digits.remove_prefix(1);
  std::string_view word = digits;
  const bool negative = text.starts_with('-');
  if (negative) word.remove_prefix(1);
  constexpr T kInfinity = std::numeric_limits<T>::infinity();
  if (EqualsIgnoringCase(word, "inf") || EqualsIgnoringCase(word, "infinity"))
    return negative ? -kInfinity : kInfinity;
  if (EqualsIgnoringCase(word, "nan"))
    return std::numeric_limits<T>::quiet_NaN();
  if (word.empty() || (word[0] != '.' && (word[0] < '0' || word[0] > '9')))
    return std::nullopt;
  T value = 0;
  const char* const end = digits.data() + digits.size();
  const std::from_chars_result read =
      std::from_chars(digits.data(), end, value);
  if (read.ptr != end) return std::nullopt;
  if (read.ec == std::errc()) return value;
  if (read.ec != std::errc::result_out_of_range) return std::nullopt;
  return ReadExtreme(digits, value);
}

// Reads an integer that fits T. The whole text must be the integer.
template <typename T>
std::optional<T> ReadInteger(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  T value = 0;
  const char* const end = text.data() + text.size();
  const std::from_chars_result read = std::from_chars(text.data(), end, value);
  if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
  return value;
}

// Returns the integer's bits in the type; nullopt if the type cannot represent
// it.
std::optional<uint64_t> FitInteger(int64_t value, DType type) {
  const uint64_t bits = tensor::IntegerToBits(value, type);
  if (tensor::BitsToInteger(bits, type) != value) return std::nullopt;
  if (type == DType::kU64 && value < 0) return std::nullopt;
  return bits;
}

std::optional<uint64_t> ParseInteger(std::string_view text, DType type) {
  if (const auto value = ReadInteger<int64_t>(text))
    return FitInteger(*value, type);
  if (type == DType::kU64) {
    if (const auto value = ReadInteger<uint64_t>(text)) return value;
  }
  const std::optional<double> value = ReadFloat<double>(text);
  if (!value || std::isnan(*value)) return std::nullopt;
  const double whole = std::trunc(*value);
  constexpr double kTwo63 = 9223372036854775808.0;
  if (type == DType::kU64 && whole >= 0 && whole < 2 * kTwo63)
    return static_cast<uint64_t>(whole);
  if (whole < -kTwo63 || whole >= kTwo63) return std::nullopt;
  return FitInteger(static_cast<int64_t>(whole), type);
}

std::optional<uint64_t> ParseBool(std::string_view text) {
  const std::optional<double> value = ReadFloat<double>(text);
  if (!value) return std::nullopt;
  return *value != 0;
}

std::optional<uint64_t> ParseFloat(std::string_view text, DType type) {
  // The text is read directly as f32, because reading it as f64 first would
  // round twice.
  if (type == DType::kF32) {
    const std::optional<float> value = ReadFloat<float>(text);
    if (!value) return std::nullopt;
    return tensor::DoubleToBits(*value, type);
  }
  const std::optional<double> value = ReadFloat<double>(text);
  if (!value) return std::nullopt;
  return tensor::DoubleToBits(*value, type);
}

}  // namespace

std::string NumberText(uint64_t bits, DType type) {
  if (type == DType::kBool) return bits != 0 ? "True" : "False";
  if (IsFloat(type)) return FloatText(tensor::BitsToDouble(bits, type), type);
  if (type == DType::kU64) return std::to_string(bits);
  return std::to_string(tensor::BitsToInteger(bits, type));
}

StatusOr<uint64_t> ParseNumber(std::string_view text, DType type) {
  std::string_view trimmed = Trim(text);
  // The words True and False, which NumberText writes for bools, are accepted
  // as numbers of every type.
  if (EqualsIgnoringCase(trimmed, "true")) trimmed = "1";
  if (EqualsIgnoringCase(trimmed, "false")) trimmed = "0";
  const std::optional<uint64_t> bits = type == DType::kBool ? ParseBool(trimmed)
                                       : IsFloat(type)
                                           ? ParseFloat(trimmed, type)
                                           : ParseInteger(trimmed, type);
  if (bits) return *bits;
  constexpr size_t kShown = 64;
  return InvalidArgumentError(
      Concat({"expected a number that fits ", DTypeName(type), ", found '",
              text.substr(0, kShown), "'"}));
}

}  // namespace ember::vm
