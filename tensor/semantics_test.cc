#include "tensor/semantics.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "gtest/gtest.h"
#include "tensor/scalar.h"

namespace ember::tensor::semantics {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr int64_t kLow64 = INT64_MIN;

TEST(SemanticsTest, IntegersWrap) {
  EXPECT_EQ(Add<int8_t>(127, 1), -128);
  EXPECT_EQ(Subtract<uint8_t>(0, 1), 255);
  EXPECT_EQ(Multiply<uint16_t>(65535, 65535),
            // C++ promotes uint16_t to int, whose product overflows here;
            // Multiply must not compute it so.
            1);
  EXPECT_EQ(Multiply<int64_t>(kLow64, -1), kLow64);
  EXPECT_EQ(Negate<int64_t>(kLow64), kLow64);
  EXPECT_EQ(Absolute<int32_t>(INT32_MIN), INT32_MIN);
  EXPECT_EQ(Negate<uint32_t>(1), UINT32_MAX);
}

TEST(SemanticsTest, Division) {
  EXPECT_EQ(Divide<int32_t>(-7, 2), -3);
  EXPECT_EQ(Divide<int32_t>(7, 0), 0);
  EXPECT_EQ(Divide<int64_t>(kLow64, -1), kLow64);
  EXPECT_EQ(FloorDivide<int32_t>(-7, 2), -4);
  EXPECT_EQ(FloorDivide<int32_t>(7, -2), -4);
  EXPECT_EQ(FloorDivide<int32_t>(-6, 2), -3);
  EXPECT_EQ(FloorDivide<int32_t>(5, 0), 0);
  EXPECT_EQ(FloorDivide<int64_t>(kLow64, -1), kLow64);
  EXPECT_EQ(FloorDivide<uint8_t>(200, 3), 66);
  EXPECT_EQ(Modulo<int32_t>(-7, 3), 2);
  EXPECT_EQ(Modulo<int32_t>(7, -3), -2);
  EXPECT_EQ(Modulo<int32_t>(7, 0), 0);
  EXPECT_EQ(Modulo<int64_t>(kLow64, -1), 0);
  EXPECT_EQ(Remainder<int32_t>(-7, 3), -1);
  EXPECT_EQ(Remainder<int32_t>(7, 0), 0);
  EXPECT_EQ(Modulo<float>(-1.0f, 3.0f), 2.0f);
  EXPECT_EQ(Modulo<float>(1.0f, -3.0f), -2.0f);
  EXPECT_TRUE(std::signbit(Modulo<float>(3.0f, -3.0f)));
  EXPECT_EQ(Remainder<float>(-1.0f, 3.0f), -1.0f);
  EXPECT_TRUE(std::isnan(Modulo<float>(1.0f, 0.0f)));
}

TEST(SemanticsTest, Powers) {
  EXPECT_EQ(Power<int32_t>(3, 4), 81);
  EXPECT_EQ(Power<int32_t>(2, 33), 0);  // integers wrap: 2^33 is 0 modulo 2^32
  EXPECT_EQ(Power<int32_t>(0, 0), 1);
  EXPECT_EQ(Power<int32_t>(2, -1), 0);
  EXPECT_EQ(Power<int32_t>(1, -5), 1);
  EXPECT_EQ(Power<int32_t>(-1, -5), -1);
  EXPECT_EQ(Power<int32_t>(-1, -4), 1);
  EXPECT_EQ(Power<int32_t>(0, -1), 0);
  // 3^255 is computed modulo 256, which gives 171.
  EXPECT_EQ(Power<uint8_t>(3, 255), 171);
  EXPECT_EQ(Power<float>(4.0f, 0.5f), 2.0f);
}

TEST(SemanticsTest, MinimumAndMaximumKeepNan) {
  EXPECT_TRUE(std::isnan(Minimum<float>(kNan, 1)));
  EXPECT_TRUE(std::isnan(Minimum<float>(1, kNan)));
  EXPECT_TRUE(std::isnan(Maximum<float>(kNan, 1)));
  EXPECT_TRUE(std::isnan(Maximum<float>(1, kNan)));
  EXPECT_FALSE(std::signbit(Maximum<float>(0.0f, -0.0f)));
  EXPECT_TRUE(
      // For equal values, such as +0 and -0, the first operand is returned.
      std::signbit(Maximum<float>(-0.0f, 0.0f)));
  EXPECT_EQ(Maximum<bool>(false, true), true);
}

TEST(SemanticsTest, ComparisonsWithNan) {
  EXPECT_FALSE(Equal<float>(kNan, kNan));
  EXPECT_TRUE(NotEqual<float>(kNan, kNan));
  EXPECT_FALSE(Less<float>(kNan, 1));
  EXPECT_FALSE(LessEqual<float>(1, kNan));
  EXPECT_TRUE(Equal<float>(0.0f, -0.0f));
}

TEST(SemanticsTest, SignsAndRounding) {
  EXPECT_TRUE(std::isnan(Sign<float>(kNan)));
  EXPECT_EQ(Sign<float>(-3), -1);
  EXPECT_EQ(Sign<int8_t>(-128), -1);
  EXPECT_EQ(Sign<uint8_t>(200), 1);
  EXPECT_EQ(Round<float>(0.5f), 0.0f);
  EXPECT_EQ(Round<float>(1.5f), 2.0f);
  EXPECT_EQ(Round<float>(-2.5f), -2.0f);
  EXPECT_EQ(Truncate<float>(-1.7f), -1.0f);
  EXPECT_TRUE(IsInfinite<float>(-kInf));
  EXPECT_FALSE(IsInfinite<float>(kNan));
  EXPECT_TRUE(IsNan<float>(kNan));
}

TEST(SemanticsTest, Bits) {
  EXPECT_EQ(Not<bool>(true), false);
  EXPECT_EQ(Not<uint8_t>(1), 254);
  EXPECT_EQ(Xor<int8_t>(-1, 1), -2);
  EXPECT_EQ(ShiftLeft<int8_t>(1, 7), -128);
  EXPECT_EQ(ShiftLeft<int8_t>(1, 8), 0);
  EXPECT_EQ(ShiftLeft<int32_t>(1, -1), 0);
  EXPECT_EQ(ShiftRight<int8_t>(-128, 7), -1);
  EXPECT_EQ(ShiftRight<int8_t>(-128, 100), -1);
  EXPECT_EQ(ShiftRight<int8_t>(100, -1), 0);
  EXPECT_EQ(ShiftRight<uint8_t>(128, 7), 1);
  EXPECT_EQ(ShiftRight<uint64_t>(UINT64_MAX, 64), 0u);
}

TEST(SemanticsTest, CastsToIntegersSaturate) {
  EXPECT_EQ(Cast<int8_t>(127.9f), 127);
  EXPECT_EQ(Cast<int8_t>(128.0f), 127);
  EXPECT_EQ(Cast<int8_t>(-1000.0f), -128);
  EXPECT_EQ(Cast<uint8_t>(-0.5f), 0);
  EXPECT_EQ(Cast<uint8_t>(kInf), 255);
  EXPECT_EQ(Cast<int32_t>(kNan), 0);
  EXPECT_EQ(Cast<int64_t>(9.3e18), INT64_MAX);
  EXPECT_EQ(Cast<int64_t>(kInf), INT64_MAX);
  EXPECT_EQ(Cast<uint64_t>(1.8446744073709552e19), UINT64_MAX);
  EXPECT_EQ(Cast<int32_t>(-1.7), -1);
  // integers wrap: 300 modulo 256 is 44
  EXPECT_EQ(Cast<int8_t>(int32_t{300}), 44);
  EXPECT_EQ(Cast<bool>(kNan), true);
  EXPECT_EQ(Cast<bool>(-0.0f), false);
  EXPECT_EQ(Cast<bool>(int64_t{1} << 40), true);
}

TEST(SemanticsTest, CastsToFloatsRoundOnce) {
  EXPECT_EQ(Cast<float>(int32_t{16777217}), 16777216.0f);
  EXPECT_EQ(ToFloat(Cast<Float16>(int32_t{2049})), 2048.0f);
  EXPECT_EQ(ToFloat(Cast<Float16>(70000.0f)), kInf);
  EXPECT_EQ(ToFloat(Cast<Float16>(true)), 1.0f);
  // The value exceeds the middle of two bf16 values by 1, which is less than
  // the last digit of a double of this size. A conversion through double would
  // lose the 1 and round as for a tie.
  const int64_t middle = (int64_t{257} << 54) + 1;
  EXPECT_EQ(ToFloat(Cast<BFloat16>(middle)), 0x1.02p62f);
  EXPECT_EQ(ToFloat(Cast<BFloat16>(middle - 1)),
            // The exact middle is a tie, which rounds to the even bf16 value.
            0x1p62f);
  EXPECT_EQ(ToFloat(Cast<BFloat16>(-middle)), -0x1.02p62f);
  EXPECT_EQ(ToFloat(Cast<BFloat16>(kLow64)), -0x1p63f);
}

// --- EvaluateScalar and casts, on bits
// ----------------------------------------------------------

TEST(ScalarTest, NarrowTypesComputeInFloatAndRound) {
  const uint64_t a = DoubleToBits(2048, DType::kF16),
                 b = DoubleToBits(1, DType::kF16);
  EXPECT_EQ(EvaluateScalar(Opcode::kAdd, DType::kF16, DType::kF16, {a, b, 0}),
            a);
  EXPECT_EQ(EvaluateScalar(Opcode::kAdd, DType::kI8, DType::kI8, {0x7f, 1, 0}),
            0x80u);
  EXPECT_EQ(EvaluateScalar(Opcode::kNot, DType::kBool, DType::kBool, {1, 0, 0}),
            0u);
  EXPECT_EQ(EvaluateScalar(Opcode::kNot, DType::kU8, DType::kU8, {1, 0, 0}),
            254u);
  EXPECT_EQ(
      EvaluateScalar(Opcode::kLess, DType::kI8, DType::kBool, {0xff, 0, 0}),
      1u);
  EXPECT_EQ(
      EvaluateScalar(Opcode::kSelect, DType::kBool, DType::kF32, {0, 5, 6}),
      6u);
  EXPECT_EQ(EvaluateScalar(Opcode::kBitcast, DType::kF32, DType::kI32,
                           {0x80000000, 0, 0}),
            0x80000000u);
}

// Checks that the cast for types known at run time, which goes through the
// widest type, gives the same as the direct cast. The test calls it for every
// pair of types, with values around every limit.
template <DType from, DType to>
void CheckCast(uint64_t raw) {
  using From = typename TypesOf<from>::Storage;
  using To = std::conditional_t<to == DType::kBool, bool,
                                typename TypesOf<to>::Storage>;
  const int bits = 8 * DTypeByteSize(from);
  if (bits < 64) raw &= (uint64_t{1} << bits) - 1;
  if (from == DType::kBool) raw &= 1;
  From stored;
  std::memcpy(static_cast<void*>(&stored), &raw, sizeof(stored));
  uint64_t expected = 0;
  if constexpr (from == DType::kBool) {
    const To direct = Cast<To>(stored != 0);
    std::memcpy(&expected, static_cast<const void*>(&direct), sizeof(direct));
  } else {
    const To direct = Cast<To>(Widen(stored));
    std::memcpy(&expected, static_cast<const void*>(&direct), sizeof(direct));
  }
  const uint64_t actual = EvaluateScalar(Opcode::kCast, from, to, {raw, 0, 0});
  if (IsFloat(to) && std::isnan(BitsToDouble(expected, to))) {
    EXPECT_TRUE(std::isnan(BitsToDouble(actual, to)));
  } else {
    EXPECT_EQ(actual, expected)
        << DTypeName(from) << " to " << DTypeName(to) << " of " << raw;
  }
}

template <DType from>
void CheckCastsFrom(uint64_t raw){
#define EMBER_ROW(name, ...) CheckCast<from, DType::k##name>(raw);
    EMBER_FOR_EACH_DTYPE(EMBER_ROW)
#undef EMBER_ROW
}

TEST(ScalarTest, GeneralCastsAgreeWithDirectOnes) {
  uint64_t state = 1;
  for (int i = 0; i < 4000; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    // Half of the values have a run of ones at the upper end, so that values
    // near the limits of types occur often.
    const uint64_t raw = i % 2 ? state : ~uint64_t{0} << (state >> 58);
#define EMBER_ROW(name, ...) \
  CheckCastsFrom<DType::k##name>(i % 3 ? raw : raw >> 32);
    EMBER_FOR_EACH_DTYPE(EMBER_ROW)
#undef EMBER_ROW
  }
}

TEST(ScalarTest, EveryInstructionRunsForEveryTypeItAccepts) {
  for (int i = 0; i < kOpcodeCount; ++i) {
    const Opcode opcode = static_cast<Opcode>(i);
    if (InfoOf(opcode).group == InstructionGroup::kStructural) continue;
    for (int t = 0; t < kDTypeCount; ++t) {
      const DType type = static_cast<DType>(t);
      if (!AcceptsType(InfoOf(opcode).kinds, type)) continue;
      const InstructionGroup group = InfoOf(opcode).group;
      const bool makes_bool = group == InstructionGroup::kClassify ||
                              group == InstructionGroup::kCompare;
      const DType result = makes_bool ? DType::kBool : type;
      const uint64_t bits = EvaluateScalar(opcode, type, result,
                                           {OneBits(type), OneBits(type), 0});
      const int width = 8 * DTypeByteSize(result);
      if (width < 64) {
        EXPECT_EQ(bits >> width, 0u) << InfoOf(opcode).text;
      }
    }
  }
}

TEST(ScalarTest, IdentitiesOfReductions) {
  EXPECT_EQ(LargestBits(DType::kI8), 0x7fu);
  EXPECT_EQ(SmallestBits(DType::kI8), 0x80u);
  EXPECT_EQ(SmallestBits(DType::kU64), 0u);
  EXPECT_EQ(LargestBits(DType::kBool), 1u);
  EXPECT_EQ(LargestBits(DType::kF16), 0x7c00u);
  EXPECT_EQ(SmallestBits(DType::kF32), 0xff800000u);
  EXPECT_EQ(OneBits(DType::kBF16), 0x3f80u);
  // A type without infinities has its largest and smallest finite values here.
  EXPECT_EQ(LargestBits(DType::kF8E4M3FN), 0x7eu);
  EXPECT_EQ(SmallestBits(DType::kF8E4M3FN), 0xfeu);
  EXPECT_EQ(SmallestBits(DType::kF8E5M2), 0xfcu);
}

// A cast of a value that is too large gives infinity, or NaN if the type has no
// infinity. With minimum and maximum before the cast it saturates instead, and
// a NaN stays NaN.
TEST(ScalarTest, CastsToFloatsOf8BitsSaturateOnlyWhereTold) {
  const auto cast = [](double value, DType type) {
    return EvaluateScalar(Opcode::kCast, DType::kF32, type,
                          {DoubleToBits(value, DType::kF32), 0, 0});
  };
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double value : {465.0, 1e9, infinity}) {
    EXPECT_EQ(cast(value, DType::kF8E4M3FN), 0x7fu);
    EXPECT_EQ(cast(Maximum(Minimum(value, 448.0), -448.0), DType::kF8E4M3FN),
              0x7eu);
  }
  EXPECT_EQ(cast(464.0, DType::kF8E4M3FN), 0x7eu);
  EXPECT_EQ(
      cast(Maximum<double>(Minimum<double>(kNan, 448), -448), DType::kF8E4M3FN),
      0x7fu);
  EXPECT_EQ(cast(-1e9, DType::kF8E5M2), 0xfcu);
  EXPECT_EQ(cast(61440.0, DType::kF8E5M2), 0x7cu);
  EXPECT_EQ(cast(61439.0, DType::kF8E5M2), 0x7bu);
}

// The product of two 8-bit floats is exact in f32, so rounding it to 8 bits is
// the only rounding.
TEST(ScalarTest, ArithmeticOfFloatsOf8BitsIsThatOfF32Rounded) {
  for (const DType type : {DType::kF8E4M3FN, DType::kF8E5M2}) {
    for (uint64_t a = 0; a < 256; ++a) {
      for (uint64_t b = 0; b < 256; b += 3) {
        const double exact = BitsToDouble(a, type) * BitsToDouble(b, type);
        const uint64_t expected = DoubleToBits(exact, type);
        const uint64_t found =
            EvaluateScalar(Opcode::kMultiply, type, type, {a, b, 0});
        if (std::isnan(BitsToDouble(expected, type))) {
          ASSERT_TRUE(std::isnan(BitsToDouble(found, type))) << a << " " << b;
        } else {
          ASSERT_EQ(found, expected) << a << " " << b;
        }
      }
    }
  }
}

}  // namespace
}  // namespace ember::tensor::semantics
