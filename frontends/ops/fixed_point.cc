#include "frontends/ops/fixed_point.h"

#include <algorithm>
#include <cmath>

namespace ember::ops {
namespace {

constexpr int kFractionBits = 31;

int LeftShift(const FixedPoint& scale) { return std::max(scale.shift, 0); }
int RightShift(const FixedPoint& scale) { return std::max(-scale.shift, 0); }

// Returns one field of each scale (such as the shift) as a vector along the
// last dim of x, or as a scalar if all scales have the same value. `value`
// reads the field.
template <typename T, typename Value>
Tensor Parameter(Tensor x, const std::vector<FixedPoint>& scales, DType dtype,
                 const Value& value) {
  graph::GraphBuilder& builder = x.builder();
  std::vector<T> values;
  for (const FixedPoint& scale : scales)
    values.push_back(static_cast<T>(value(scale)));
  const bool same = std::all_of(values.begin(), values.end(),
                                [&](T v) { return v == values.front(); });
  if (same) values.resize(1);
  const auto* bytes = reinterpret_cast<const uint8_t*>(values.data());
  const auto count = static_cast<int64_t>(values.size());
  return {
      &builder,
      builder.Constant(
          dtype, same ? std::vector<int64_t>() : std::vector<int64_t>{count},
          graph::ConstantData::Copy({bytes, values.size() * sizeof(T)}))};
}

bool AnyOf(const std::vector<FixedPoint>& scales,
           int (*shift)(const FixedPoint&)) {
  return std::any_of(
      scales.begin(), scales.end(),
      [&](const FixedPoint& scale) { return shift(scale) != 0; });
}

// Returns x / 2^exponent, rounded to nearest, where each scale gives the
// exponent. To round halves away from zero, the floor is increased by 1 if the
// remainder is above half, or is half and x is not negative.
Tensor DivideByPowerOfTwo(Tensor x, const std::vector<FixedPoint>& scales,
                          Halves ties) {
  const auto mask = [](const FixedPoint& scale) {
    return (int64_t{1} << RightShift(scale)) - 1;
  };
  const Tensor exponents =
      Parameter<int32_t>(x, scales, DType::kI32, RightShift);
  if (ties == Halves::kUp) {
    const Tensor half =
        Parameter<int32_t>(x, scales, DType::kI32, [](const FixedPoint& scale) {
          return (int64_t{1} << RightShift(scale)) >> 1;
        });
    return Binary(Opcode::kShiftRight, x + half, exponents);
  }
  const Tensor masks = Parameter<int32_t>(x, scales, DType::kI32, mask);
  const Tensor halves = Parameter<int32_t>(
      x, scales, DType::kI32,
      [&](const FixedPoint& scale) { return mask(scale) >> 1; });
  const Tensor floor = Binary(Opcode::kShiftRight, x, exponents);
  const Tensor threshold = halves + Cast(Less(x, 0), DType::kI32);
  const Tensor above = Less(threshold, And(x, masks));
  return floor + Cast(above, DType::kI32);
}

}  // namespace

FixedPoint FixedPointOf(double value) {
  if (!(value > 0)) return {};
  FixedPoint result;
  const double fraction = std::frexp(value, &result.shift);
  auto multiplier = static_cast<int64_t>(
      std::round(fraction * static_cast<double>(int64_t{1} << kFractionBits)));
  if (multiplier == int64_t{1} << kFractionBits) {
    multiplier /= 2;
    ++result.shift;
  }
  if (result.shift < -kFractionBits) return {};
  result.shift = std::min(result.shift, kFractionBits - 1);
  result.multiplier = static_cast<int32_t>(multiplier);
  return result;
}

Tensor MultiplyByFixedPoint(Tensor x, const FixedPoint& scale, Halves halves) {
  return MultiplyByFixedPoint(x, std::vector<FixedPoint>{scale}, halves);
}

Tensor MultiplyByFixedPoint(Tensor x, const std::vector<FixedPoint>& scales,
                            Halves halves) {
  if (AnyOf(scales, LeftShift)) {
    x = x * Parameter<int32_t>(x, scales, DType::kI32, [](const FixedPoint& s) {
          return int64_t{1} << LeftShift(s);
        });
  }
  const Tensor multipliers = Parameter<int64_t>(
      x, scales, DType::kI64, [](const FixedPoint& s) { return s.multiplier; });
  const Tensor product = Cast(x, DType::kI64) * multipliers;
  const Tensor rounded =
      product + product.Like(static_cast<double>(1 << (kFractionBits - 1)));
  const Tensor high =
      Cast(Binary(Opcode::kShiftRight, rounded, rounded.Like(kFractionBits)),
           DType::kI32);
  return AnyOf(scales, RightShift) ? DivideByPowerOfTwo(high, scales, halves)
                                   : high;
}

int32_t MultiplyByFixedPoint(int32_t x, const FixedPoint& scale) {
  const auto shifted =
      static_cast<int32_t>(static_cast<uint32_t>(x) << LeftShift(scale));
  const int64_t product = int64_t{shifted} * scale.multiplier;
  const auto high = static_cast<int32_t>(
      (product + (int64_t{1} << (kFractionBits - 1))) >> kFractionBits);
  const int64_t mask = (int64_t{1} << RightShift(scale)) - 1;
  const int64_t threshold = (mask >> 1) + (high < 0 ? 1 : 0);
  return (high >> RightShift(scale)) + ((high & mask) > threshold ? 1 : 0);
}

FixedPoint InverseRootOf(int32_t value) {
  if (value <= 1) return {INT32_MAX, 0};
  // Multiplies the value by a power of 4 so that it is in [2^27, 2^29). The
  // root changes by the power of 2 that `shift` records.
  int shift = -11;
  while (value >= 1 << 29) {
    value /= 4;
    --shift;
  }
  while (value < 1 << 27) {
    value *= 4;
    ++shift;
  }
  // Newton's method computes with fixed-point numbers of 28 binary places.
  // Products are rounded to the nearest; halves are rounded away from zero
  // unless the product is negative.
  constexpr int32_t kOneAndAHalf = (1 << 28) + (1 << 27);
  constexpr int32_t kRootOfHalf = 1518500250;  // 31 places
  const auto product = [](int32_t a, int32_t b) {
    return MultiplyByFixedPoint(a, {b, 0});
  };
  const auto times8 = [](int32_t a) {
    return static_cast<int32_t>(
        std::clamp<int64_t>(int64_t{a} * 8, INT32_MIN, INT32_MAX));
  };
  const auto times64 = [](int32_t a) {
    return static_cast<int32_t>(
        std::clamp<int64_t>(int64_t{a} * 64, INT32_MIN, INT32_MAX));
  };
  const int32_t number = value >> 1;
  const int32_t half = (number + 1) >> 1;
  int32_t x = 1 << 28;
  for (int i = 0; i < 5; ++i) {
    const int32_t cube = times64(product(product(x, x), x));
    x = times8(product(kOneAndAHalf, x) - product(half, cube));
  }
  x = product(x, kRootOfHalf);
  if (shift > 0) {
    x *= 1 << shift;
    shift = 0;
  }
  return {x, shift};
}

Tensor MultiplyWideByFixedPoint(Tensor x,
                                const std::vector<FixedPoint>& scales) {
  // The multiplier of 31 bits is rounded to 15 bits, so that its product with
  // an i64 sum does not overflow.
  const auto narrow = [](const FixedPoint& s) -> int64_t {
    return s.multiplier < 0x7FFF0000 ? (s.multiplier + (1 << 15)) >> 16
                                     : 0x7FFF;
  };
  const auto total = [](const FixedPoint& s) -> int64_t {
    return 15 - s.shift;
  };
  const Tensor shifts = Parameter<int64_t>(x, scales, DType::kI64, total);
  const Tensor halves = Parameter<int64_t>(
      x, scales, DType::kI64,
      [&](const FixedPoint& s) { return int64_t{1} << (total(s) - 1); });
  const Tensor product =
      x * Parameter<int64_t>(x, scales, DType::kI64, narrow) + halves;
  return Cast(Binary(Opcode::kShiftRight, product, shifts), DType::kI32);
}

}  // namespace ember::ops
