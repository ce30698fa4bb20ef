#include "tests/cases/elements.h"

#include <charconv>
#include <cmath>
#include <limits>

#include "base/concat.h"
#include "base/hash.h"
#include "tensor/scalar.h"

namespace ember::cases {
namespace {

template <typename T>
bool ParseAll(std::string_view text, T& value) {
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

template <typename T>
std::string Shortest(T value) {
  char buffer[64];
  const auto [end, error] =
      std::to_chars(buffer, buffer + sizeof buffer, value);
  return error == std::errc() ? std::string(buffer, end) : "?";
}

bool IsNan(uint64_t bits, DType type) {
  return IsFloat(type) && std::isnan(tensor::BitsToDouble(bits, type));
}

bool MayBeZero(uint64_t bits, DType type) {
  if (!IsFloat(type) || type == DType::kF64) return false;
  const double smallest =
      type == DType::kF16 ? 0x1p-14 : std::numeric_limits<float>::min();
  return std::fabs(tensor::BitsToDouble(bits, type)) < smallest;
}

bool IsNear(double a, double b, double relative) {
  return a == b || std::fabs(a - b) <= relative * (1 + std::fabs(a));
}

bool IsSame(uint64_t expected, uint64_t found, DType type,
            const Tolerance& tolerance) {
  if (expected == found) return true;
  if (!IsFloat(type)) return false;
  if (IsNan(expected, type) || IsNan(found, type))
    return IsNan(expected, type) && IsNan(found, type);
  const double a = tensor::BitsToDouble(expected, type);
  const double b = tensor::BitsToDouble(found, type);
  if (a == 0 && b == 0) return tolerance.zeros_are_equal;
  if (b == 0 && tolerance.subnormals_may_be_zero && MayBeZero(expected, type))
    return true;
  return tolerance.relative > 0 && IsNear(a, b, tolerance.relative);
}

}  // namespace

StatusOr<uint64_t> ParseElement(std::string_view text, DType type) {
  if (IsFloat(type)) {
    double value = 0;
    if (ParseAll(text, value)) return tensor::DoubleToBits(value, type);
  } else if (type == DType::kU64) {
    uint64_t value = 0;
    if (ParseAll(text, value)) return value;
  } else {
    int64_t value = 0;
    if (ParseAll(text, value) &&
        tensor::BitsToInteger(tensor::IntegerToBits(value, type), type) ==
            value) {
      return tensor::IntegerToBits(value, type);
    }
  }
  return InvalidArgumentError(Concat(
      {"expected an element of ", DTypeName(type), ", found '", text, "'"}));
}

std::string PrintElement(uint64_t bits, DType type) {
  if (IsNan(bits, type)) return "nan";
  if (type == DType::kF64) return Shortest(tensor::BitsToDouble(bits, type));
  if (IsFloat(type))
    return Shortest(static_cast<float>(tensor::BitsToDouble(bits, type)));
  if (type == DType::kU64) return Shortest(bits);
  return Shortest(tensor::BitsToInteger(bits, type));
}

int64_t CountElements(DType type, std::span<const uint8_t> bytes) {
  return static_cast<int64_t>(bytes.size()) / DTypeByteSize(type);
}

std::string PrintElements(DType type, std::span<const uint8_t> bytes) {
  std::string text;
  for (int64_t i = 0; i < CountElements(type, bytes); ++i) {
    if (i > 0) text += ' ';
    text += PrintElement(tensor::LoadElement(bytes.data(), i, type), type);
  }
  return text;
}

uint64_t SmallElement(DType type, size_t buffer, int64_t element) {
  const uint64_t hash =
      HashCombine(buffer + 1, static_cast<uint64_t>(element)) >> 7;
  if (type == DType::kBool) return hash % 2;
  if (!IsFloat(type)) return hash % 5;
  return tensor::DoubleToBits(static_cast<double>(hash % 17) / 2 - 4, type);
}

std::string FirstDifference(DType type, std::span<const uint8_t> expected,
                            std::span<const uint8_t> found,
                            const Tolerance& tolerance) {
  if (expected.size() != found.size()) {
    return Concat({"expected ", CountElements(type, expected),
                   " elements, found ", CountElements(type, found)});
  }
  for (int64_t i = 0; i < CountElements(type, expected); ++i) {
    const uint64_t a = tensor::LoadElement(expected.data(), i, type);
    const uint64_t b = tensor::LoadElement(found.data(), i, type);
    if (IsSame(a, b, type, tolerance)) continue;
    return Concat({"element ", i, ": expected ", PrintElement(a, type),
                   ", found ", PrintElement(b, type)});
  }
  return "";
}

}  // namespace ember::cases
