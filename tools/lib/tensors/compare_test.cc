#include "tools/lib/tensors/compare.h"

#include <cmath>
#include <limits>

#include "gtest/gtest.h"
#include "tools/lib/tensors/elements.h"

namespace ember::tools {
namespace {

vm::Tensor Floats(std::vector<float> values) {
  vm::Tensor tensor =
      *vm::Tensor::Allocate(DType::kF32, {static_cast<int64_t>(values.size())});
  std::copy(values.begin(), values.end(), tensor.elements<float>().begin());
  return tensor;
}

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

TEST(CompareTest, NamesTheFirstDifference) {
  const Comparison c = Compare(Floats({1, 2.5f, 7}), Floats({1, 2, 4}),
                               {.rtol = 0, .atol = 0.1});
  EXPECT_FALSE(c.equal);
  EXPECT_EQ(c.message,
            "[1]: got 2.5, want 2; 2 of 3 elements differ, by up to 3");
  EXPECT_EQ(c.max_absolute, 3);
  EXPECT_EQ(c.max_relative, 0.75);
}

TEST(CompareTest, ToleranceIsAbsolutePlusRelative) {
  EXPECT_TRUE(
      Compare(Floats({102}), Floats({100}), {.rtol = 0.01, .atol = 1.01})
          .equal);
  EXPECT_FALSE(
      Compare(Floats({102.1f}), Floats({100}), {.rtol = 0.01, .atol = 1.01})
          .equal);
}

// The next f16 above 1 is 1 + 2^-10, so the two elements differ by one unit in
// the last place.
TEST(CompareTest, NarrowFloatsMayRoundDifferently) {
  vm::Tensor a = *vm::Tensor::Allocate(DType::kF16, {1});
  vm::Tensor b = *vm::Tensor::Allocate(DType::kF16, {1});
  a.elements<uint16_t>()[0] = 0x3c00;
  b.elements<uint16_t>()[0] = 0x3c01;
  const Tolerance strict{.rtol = 5e-4, .atol = 0};
  EXPECT_FALSE(Compare(b, a, strict).equal);
  Tolerance rounding = strict;
  rounding.allows_rounding = true;
  EXPECT_TRUE(Compare(b, a, rounding).equal);
  b.elements<uint16_t>()[0] = 0x3c10;
  EXPECT_FALSE(Compare(b, a, rounding).equal);
  EXPECT_FALSE(Compare(Floats({1.001f}), Floats({1}), rounding).equal);
}

TEST(CompareTest, NanAndInfinityMustAgree) {
  const Tolerance loose{.rtol = 1, .atol = 1e9};
  EXPECT_TRUE(
      Compare(Floats({kNan, kInfinity}), Floats({kNan, kInfinity}), loose)
          .equal);
  EXPECT_FALSE(Compare(Floats({1}), Floats({kNan}), loose).equal);
  EXPECT_FALSE(Compare(Floats({kNan}), Floats({1}), loose).equal);
  EXPECT_FALSE(Compare(Floats({1}), Floats({kInfinity}), loose).equal);
  EXPECT_FALSE(Compare(Floats({-kInfinity}), Floats({kInfinity}), loose).equal);
}

TEST(CompareTest, IntegersAreExactPast53Bits) {
  vm::Tensor a = *vm::Tensor::Allocate(DType::kI64, {});
  vm::Tensor b = *vm::Tensor::Allocate(DType::kI64, {});
  a.elements<int64_t>()[0] = (int64_t{1} << 60) + 1;
  b.elements<int64_t>()[0] = int64_t{1} << 60;
  EXPECT_FALSE(Compare(a, b, {.rtol = 1, .atol = 100}).equal);
  b = a;
  EXPECT_TRUE(Compare(a, b, {}).equal);
}

template <typename T>
bool IsOneOff(DType type, const Tolerance& tolerance) {
  vm::Tensor a = *vm::Tensor::Allocate(type, {});
  vm::Tensor b = *vm::Tensor::Allocate(type, {});
  b.elements<T>()[0] = 0;
  a.elements<T>()[0] = 1;
  return Compare(a, b, tolerance).equal;
}

TEST(CompareTest, TiersAreApartRelativeToTheSizeOfWhatDiffers) {
  // The largest finite element is 1000, so `size` is 1000. Tolerances: 1e-4 *
  // (1000 + 100) for the first element, and 1e-4 * 100 for the second one,
  // which represents a sum whose terms cancelled.
  EXPECT_TRUE(CompareTiers(Floats({1000.1f, 0.009f}), Floats({1000, 0})).equal);
  EXPECT_FALSE(
      CompareTiers(Floats({1000.1f, 0.011f}), Floats({1000, 0})).equal);
  EXPECT_TRUE(
      CompareTiers(Floats({1000.1f, 0.011f}), Floats({1000, 0}), 2).equal);
  // Equal fill values (-3e38) and infinities must not enlarge the tolerance so
  // that the difference of another element is hidden.
  EXPECT_FALSE(
      CompareTiers(Floats({-3e38f, 1.01f}), Floats({-3e38f, 1})).equal);
  EXPECT_FALSE(
      CompareTiers(Floats({kInfinity, 1}), Floats({kInfinity, 1.01f})).equal);
  EXPECT_FALSE(CompareTiers(Floats({0, 1}), Floats({-3e38f, 1})).equal);
  EXPECT_FALSE(CompareTiers(Floats({kNan}), Floats({1})).equal);
  EXPECT_TRUE(CompareTiers(Floats({kNan, 1}), Floats({kNan, 1})).equal);
  vm::Tensor a = *vm::Tensor::Allocate(DType::kU8, {});
  vm::Tensor b = *vm::Tensor::Allocate(DType::kU8, {});
  EXPECT_TRUE(CompareTiers(a, b).equal);
  b.elements<uint8_t>()[0] = 1;
  EXPECT_FALSE(CompareTiers(a, b, 1000).equal);
  EXPECT_FALSE(CompareTiers(a, Floats({1})).equal);
}

TEST(CompareTest, SmallIntegersMayBeOffOnlyIfAsked) {
  EXPECT_FALSE(IsOneOff<uint8_t>(DType::kU8, {.rtol = 1, .atol = 1}));
  EXPECT_TRUE(IsOneOff<uint8_t>(DType::kU8, {.integer_steps = 1}));
  EXPECT_TRUE(IsOneOff<int16_t>(DType::kI16, {.integer_steps = 1}));
  EXPECT_FALSE(IsOneOff<int32_t>(DType::kI32, {.integer_steps = 1}));
  EXPECT_FALSE(IsOneOff<uint8_t>(DType::kBool, {.integer_steps = 1}));
}

TEST(CompareTest, IntegersAreWithinAtolOnlyIfAsked) {
  const Tolerance one = {.rtol = 1, .atol = 1, .uses_atol_for_integers = true};
  EXPECT_TRUE(IsOneOff<uint8_t>(DType::kU8, one));
  EXPECT_TRUE(IsOneOff<int64_t>(DType::kI64, one));
  EXPECT_FALSE(IsOneOff<uint8_t>(DType::kBool, one));
  EXPECT_FALSE(IsOneOff<int64_t>(
      DType::kI64, {.atol = 0.9, .uses_atol_for_integers = true}));
  EXPECT_FALSE(IsOneOff<int64_t>(DType::kI64, {.atol = 1}));
  vm::Tensor a = *vm::Tensor::Allocate(DType::kU64, {});
  vm::Tensor b = *vm::Tensor::Allocate(DType::kU64, {});
  a.elements<uint64_t>()[0] = ~uint64_t{0};
  b.elements<uint64_t>()[0] = ~uint64_t{0} - 1;
  EXPECT_TRUE(Compare(a, b, one).equal) << "unsigned, past 53 bits";
  b.elements<uint64_t>()[0] = ~uint64_t{0} - 2;
  EXPECT_FALSE(Compare(a, b, one).equal);
  EXPECT_EQ(Compare(a, b, one).max_absolute, 2);
}

TEST(CompareTest, NotesSayHowFarIntegersMayBeOff) {
  EXPECT_EQ(IntegerStepsOfNote("quantised: one step may differ"), 1);
  EXPECT_EQ(IntegerStepsOfNote("uint8 pixels: at most 1 off"), 1);
  EXPECT_EQ(IntegerStepsOfNote("half precision"), 0);
}

TEST(CompareTest, TypesAndShapesMustAgree) {
  const vm::Tensor a = *vm::Tensor::Allocate(DType::kF32, {2, 3});
  const vm::Tensor b = *vm::Tensor::Allocate(DType::kF32, {3, 2});
  EXPECT_EQ(Compare(a, b, {}).message, "got 2x3xf32, want 3x2xf32");
}

TEST(CompareTest, StringsExactly) {
  const vm::Tensor want = *vm::Tensor::OfStrings({2}, {"a", "b"});
  EXPECT_TRUE(Compare(want, want, {}).equal);
  const Comparison c =
      Compare(*vm::Tensor::OfStrings({2}, {"a", "c"}), want, {});
  EXPECT_EQ(c.message, "[1]: got \"c\", want \"b\"; 1 of 2 elements differ");
  EXPECT_FALSE(
      Compare(*vm::Tensor::Allocate(DType::kI64, {2}), want, {}).equal);
}

}  // namespace
}  // namespace ember::tools
