#include "frontends/ops/dims.h"

#include <algorithm>
#include <string>

#include "base/checked_math.h"

namespace ember::ops {
namespace {

using graph::Dim;
using graph::Shape;

int64_t Clamp128(__int128 value) {
  if (value <= DimRange::kNoLow) return DimRange::kNoLow;
  if (value >= DimRange::kNoHigh) return DimRange::kNoHigh;
  return static_cast<int64_t>(value);
}

bool IsUnbounded(int64_t bound) {
  return bound == DimRange::kNoLow || bound == DimRange::kNoHigh;
}

// Adds two bounds. If one of them is `missing`, the sum is `missing`.
int64_t AddBounds(int64_t a, int64_t b, int64_t missing) {
  if (a == missing || b == missing) return missing;
  return Clamp128(static_cast<__int128>(a) + b);
}

int64_t MultiplyBounds(int64_t a, int64_t b) {
  if (a == 0 || b == 0) return 0;
  if (IsUnbounded(a) || IsUnbounded(b)) {
    return (a < 0) == (b < 0) ? DimRange::kNoHigh : DimRange::kNoLow;
  }
  return Clamp128(static_cast<__int128>(a) * b);
}

DimRange Multiply(DimRange a, DimRange b) {
  const int64_t corners[] = {
      MultiplyBounds(a.low, b.low), MultiplyBounds(a.low, b.high),
      MultiplyBounds(a.high, b.low), MultiplyBounds(a.high, b.high)};
  return {*std::min_element(corners, corners + 4),
          *std::max_element(corners, corners + 4)};
}

DimRange FloorDivideRange(DimRange a, DimRange b) {
  if (b.low < 1) return {};
  auto divide = [](int64_t value, int64_t divisor) {
    if (IsUnbounded(value)) return value;
    if (divisor == DimRange::kNoHigh)
      return value < 0 ? int64_t{-1} : int64_t{0};
    return FloorQuotient(value, divisor);
  };
  return {divide(a.low, a.low < 0 ? b.low : b.high),
          divide(a.high, a.high < 0 ? b.high : b.low)};
}

DimRange ModuloRange(DimRange b) {
  if (b.low < 1) return {};
  return {0, b.high == DimRange::kNoHigh ? b.high : b.high - 1};
}

}  // namespace

DimRange RangeOf(const Dim& dim) {
  using Operation = Dim::Operation;
  if (!dim.is_valid())
    // An invalid dim is an expression that overflows, so it has no known
    // bounds. The builder refuses it when it becomes part of a type.
    return {};
  DimRange range = dim.Fold<DimRange>(
      [](int64_t value) { return DimRange{value, value}; },
      [](const std::string&) { return DimRange{0, DimRange::kNoHigh}; },
      [](Operation operation, DimRange a, DimRange b) -> DimRange {
        switch (operation) {
          case Operation::kAdd:
            return {AddBounds(a.low, b.low, DimRange::kNoLow),
                    AddBounds(a.high, b.high, DimRange::kNoHigh)};
          case Operation::kMultiply:
            return Multiply(a, b);
          case Operation::kFloorDivide:
            return FloorDivideRange(a, b);
          case Operation::kModulo:
            return ModuloRange(b);
          case Operation::kMinimum:
            return {std::min(a.low, b.low), std::min(a.high, b.high)};
          case Operation::kMaximum:
            return {std::max(a.low, b.low), std::max(a.high, b.high)};
        }
        return {};
      });
  // The bounds from Fold and the dim's own bounds are all valid, so the tighter
  // ones are taken. Only Fold bounds quotients by open divisors; only the dim's
  // own bounds use that (a / b) * b is close to a.
  range.low = std::max(range.low, dim.LowerBound().value_or(range.low));
  range.high = std::min(range.high, dim.UpperBound().value_or(range.high));
  return range;
}

bool IsNonNegative(const Dim& dim) { return RangeOf(dim).low >= 0; }

Dim SmallerOf(const Dim& a, const Dim& b) {
  const DimRange difference = RangeOf(a - b);
  if (difference.high <= 0) return a;
  if (difference.low >= 0) return b;
  return Minimum(a, b);
}

Dim LargerOf(const Dim& a, const Dim& b) {
  const DimRange difference = RangeOf(a - b);
  if (difference.low >= 0) return a;
  if (difference.high <= 0) return b;
  return Maximum(a, b);
}

std::optional<Dim> DivideElementCounts(const Shape& whole, const Shape& parts) {
  Shape numerator = whole;
  Shape denominator;
  for (const Dim& part : parts) {
    auto equal = std::find(numerator.begin(), numerator.end(), part);
    if (equal != numerator.end()) {
      numerator.erase(equal);
    } else {
      denominator.push_back(part);
    }
  }
  const Dim dividend = ElementCount(numerator);
  const Dim divisor = ElementCount(denominator);
  if (divisor.is_constant() && divisor.constant() == 0) return std::nullopt;
  if (dividend.is_constant() && divisor.is_constant() &&
      dividend.constant() % divisor.constant() != 0) {
    return std::nullopt;
  }
  return FloorDivide(dividend, divisor);
}

std::optional<std::vector<int64_t>> AsConstants(const Shape& dims) {
  std::vector<int64_t> values;
  for (const Dim& dim : dims) {
    if (!dim.is_constant()) return std::nullopt;
    values.push_back(dim.constant());
  }
  return values;
}

}  // namespace ember::ops
