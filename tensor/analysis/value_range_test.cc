#include "tensor/analysis/value_range.h"

#include <cmath>
#include <cstring>

#include "base/testing/seeds.h"
#include "gtest/gtest.h"
#include "tensor/scalar.h"
#include "tensor/testing/random_values.h"

namespace ember::tensor {
namespace {

uint64_t Bits(double value, DType type = DType::kF32) {
  return DoubleToBits(value, type);
}
ValueRange Exact(double value, DType type = DType::kF32) {
  return ValueRange::Exactly(Bits(value, type), type);
}
ValueRange Around(double low, double high, DType type = DType::kF32) {
  return ValueRange::Between(low, high, type);
}
ValueRange ApplyF32(Opcode opcode, const ValueRange& a,
                    const ValueRange& b = {}) {
  return Apply(opcode, DType::kF32, DType::kF32, {a, b, {}});
}

TEST(ValueRangeTest, ExactArithmeticStaysExact) {
  EXPECT_TRUE(ApplyF32(Opcode::kMultiply, Exact(3), Exact(0.5)).is_exact());
  EXPECT_TRUE(ApplyF32(Opcode::kAdd, Exact(3), Exact(-3)).is_exact());
  EXPECT_TRUE(ApplyF32(Opcode::kDivide, Exact(3), Exact(2)).is_exact());
  EXPECT_TRUE(ApplyF32(Opcode::kMaximum, Exact(0.1), Exact(0.3)).is_exact());
  EXPECT_TRUE(ApplyF32(Opcode::kFloor, Exact(0.1)).is_exact());
}

TEST(ValueRangeTest, RoundingWidensByUnitsOfTheLastPlace) {
  const float third = 1.0f / 3.0f;
  const ValueRange range = ApplyF32(Opcode::kDivide, Exact(1), Exact(3));
  EXPECT_FALSE(range.is_exact());
  EXPECT_TRUE(range.Contains(Bits(third), DType::kF32));
  EXPECT_TRUE(range.Contains(Bits(std::nextafter(third, 1.0f)), DType::kF32));
  EXPECT_FALSE(range.Contains(Bits(third + 1e-6), DType::kF32));
  const ValueRange root = ApplyF32(Opcode::kExp, Exact(1));
  EXPECT_TRUE(root.Contains(Bits(std::exp(1.0)), DType::kF32));
  EXPECT_FALSE(root.Contains(Bits(std::exp(1.0) + 1e-5), DType::kF32));
}

TEST(ValueRangeTest, StepsGiveBothSides) {
  const ValueRange near_two = Around(1.9999, 2.0001);
  const ValueRange floor = ApplyF32(Opcode::kFloor, near_two);
  EXPECT_TRUE(floor.Contains(Bits(1), DType::kF32));
  EXPECT_TRUE(floor.Contains(Bits(2), DType::kF32));
  EXPECT_FALSE(floor.Contains(Bits(3), DType::kF32));
  const ValueRange cast =
      Apply(Opcode::kCast, DType::kF32, DType::kI8, {near_two, {}, {}});
  EXPECT_EQ(cast.count, 2);
  const ValueRange less =
      Apply(Opcode::kLess, DType::kF32, DType::kBool, {near_two, Exact(2), {}});
  EXPECT_EQ(less.count, 2);
  const ValueRange place =
      Apply(Opcode::kSelect, DType::kI64, DType::kI64,
            {less, Exact(3, DType::kI64), Exact(900, DType::kI64)});
  EXPECT_TRUE(place.Contains(3, DType::kI64));
  EXPECT_TRUE(place.Contains(900, DType::kI64));
  EXPECT_FALSE(place.Contains(4, DType::kI64)) << "nothing in between";
  EXPECT_TRUE(
      Apply(Opcode::kLess, DType::kF32, DType::kBool, {near_two, Exact(3), {}})
          .is_exact());
}

// A cast to a type with more bits of mantissa may still overflow, because the
// largest value of that type may be smaller.
TEST(ValueRangeTest, CastsToSmallerTypesOverflow) {
  const auto cast = [](double low, double high, DType from, DType to) {
    return Apply(Opcode::kCast, from, to,
                 {ValueRange::Between(low, high, from), {}, {}});
  };
  const ValueRange half = cast(1e30, 2e30, DType::kBF16, DType::kF16);
  EXPECT_TRUE(half.Contains(0x7c00, DType::kF16));
  const ValueRange byte = cast(1, 300, DType::kF8E5M2, DType::kF8E4M3FN);
  EXPECT_TRUE(byte.is_known);
  EXPECT_FALSE(byte.Contains(0x7f, DType::kF8E4M3FN));
  // A cast of too large a value gives infinity, or NaN if the type has no
  // infinity.
  EXPECT_TRUE(cast(1, 500, DType::kF32, DType::kF8E4M3FN)
                  .Contains(0x7f, DType::kF8E4M3FN));
  EXPECT_TRUE(
      cast(1, 1e5, DType::kF32, DType::kF8E5M2).Contains(0x7c, DType::kF8E5M2));
}

TEST(ValueRangeTest, WhatMayBeZeroDividesIntoAnything) {
  EXPECT_FALSE(ApplyF32(Opcode::kDivide, Exact(1), Around(-0.1, 0.1)).is_known);
  EXPECT_FALSE(ApplyF32(Opcode::kSqrt, Around(-0.1, 0.1)).is_known);
  EXPECT_FALSE(
      Apply(Opcode::kAdd, DType::kI8, DType::kI8,
            {Around(100, 120, DType::kI8), Around(5, 20, DType::kI8), {}})
          .is_known)
      << "wraps";
}

TEST(ValueRangeTest, InfinitiesAndNaNsComeThrough) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(ApplyF32(Opcode::kExp, Exact(-infinity)).high > 1e-30, false);
  const ValueRange none =
      ApplyF32(Opcode::kSubtract, Exact(infinity), Exact(infinity));
  EXPECT_TRUE(none.Contains(Bits(NAN), DType::kF32));
  EXPECT_FALSE(none.Contains(Bits(1), DType::kF32));
  EXPECT_TRUE(ApplyF32(Opcode::kMultiply, Exact(3e38), Exact(3))
                  .Contains(Bits(infinity), DType::kF32));
}

// The result for any numbers in two intervals must be in the interval that
// Apply computes from the two intervals.
TEST(ValueRangeTest, HoldsWhatNumbersInItGive) {
  const DType type = DType::kF32;
  const SeedRange seeds = TestSeeds(20000, 0);
  int64_t known = 0;
  for (uint64_t seed = seeds.begin; seed < seeds.end; ++seed) {
    std::mt19937_64 random(seed);
    const auto number = [&] {
      std::uniform_real_distribution<double> distribution(-3, 3);
      return static_cast<double>(static_cast<float>(distribution(random)));
    };
    const auto opcode = static_cast<Opcode>(random() % kOpcodeCount);
    const InstructionInfo& info = InfoOf(opcode);
    if (info.group == InstructionGroup::kStructural ||
        !AcceptsType(info.kinds, type))
      continue;
    const bool is_bool = info.group == InstructionGroup::kClassify ||
                         info.group == InstructionGroup::kCompare;
    const DType result_type = is_bool ? DType::kBool : type;
    double ends[4];
    for (double& end : ends) end = number();
    if (seed % 3 == 0) ends[1] = ends[0] + 1e-3;
    if (seed % 4 == 0) ends[3] = ends[2];
    const ValueRange a =
        Around(std::min(ends[0], ends[1]), std::max(ends[0], ends[1]));
    const ValueRange b =
        Around(std::min(ends[2], ends[3]), std::max(ends[2], ends[3]));
    const ValueRange result = Apply(opcode, type, result_type, {a, b, {}});
    known += result.is_known;
    for (int i = 0; i <= 8; ++i) {
      const double x = static_cast<float>(a.low + (a.high - a.low) * i / 8);
      const double y =
          static_cast<float>(b.low + (b.high - b.low) * ((i * 5) % 9) / 8);
      if (x < a.low || x > a.high || y < b.low || y > b.high) continue;
      const uint64_t got =
          EvaluateScalar(opcode, type, result_type, {Bits(x), Bits(y), 0});
      ASSERT_TRUE(result.Contains(got, result_type))
          << info.text << " of " << x << " and " << y << ": " << result.low
          << " to " << result.high << "; replay: EMBER_SEED=" << seed
          << " bazel run //tensor/analysis:value_range_test";
    }
  }
  EXPECT_GT(known, seeds.end - seeds.begin > 1 ? 4000 : -1);
}

}  // namespace
}  // namespace ember::tensor
