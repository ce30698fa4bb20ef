// Tests default schedules of sums over blocks that have a scale each: weights
// of few bits must stay packed, and results must be those of the dispatch.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "jit/schedule/testing/default_schedule.h"

namespace ember::schedule {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kAvx2 = "x86_64-linux+avx2+fma";
constexpr const char* kVnni = "x86_64-linux+avx2+fma+avxvnni";
constexpr const char* kVnni512 =
    "x86_64-linux+avx2+fma+avx512f+avx512bw+avx512vl+avx512vnni";
constexpr const char* kNeon = "aarch64-linux+neon+dotprod";

// Returns a product by weights of 4 bits, two per byte of %w. %t has the
// integer sum of each block.
std::string FourBits(int rows, int columns) {
  const std::string m = std::to_string(rows), n = std::to_string(columns);
  return "dispatch @blocks(%x: i8[" + m + ", 3, 2, 16], %w: u8[" + n +
         ", 3, 16], %xs: f32[" + m + ", 3], %s: f32[" + n +
         ", 3]) -> (%y: f32[" + m + ", " + n + "]) {\n  temp %t: i32[" + m +
         ", " + n +
         ", 3]\n"
         "  %t[m, n, b] = sum(h < 2, l < 16) i32(%x[m, b, h, l]) * "
         "i32(and(shr(%w[n, b, l], u8(h * 4)), 15))\n"
         "  %y[m, n] = sum(b < 3) f32(%t[m, n, b]) * (%xs[m, b] * %s[n, b])\n"
         "}";
}

TEST(BlockSums, WeightsStayPackedInDotLoops) {
  for (const char* target : {kAvx2, kVnni, kVnni512, kNeon}) {
    for (const int rows : {1, 5}) {
      const std::string text = ScheduleFor(target, FourBits(rows, 40));
      SCOPED_TRACE(std::string(target) + "\n" + text);
      EXPECT_THAT(text, HasSubstr("compute_at %t %y b"));
      EXPECT_THAT(text, HasSubstr("pack %t %w 0/"));
      EXPECT_THAT(text, HasSubstr("tensorize %t l_dot"));
    }
  }
}

// The dispatch that ONNX's operator MatMulNBits becomes. It differs from the
// other tests: the last dim of the activations counts the parts of a byte, a
// dim of one element is indexed by 0, and weights are unpacked by a stage of
// their own.
TEST(BlockSums, UnpackingStagesBecomePartOfTheProduct) {
  const std::string text = ScheduleFor(
      kVnni512,
      "dispatch @d(%cast: i8[1, 3, 16, 2], %constant: u8[64, 3, 1, 16], "
      "%sums: i32[1, 1, 3], %s: f32[1, 64, 3]) -> (%y0: f32[1, 64]) {\n"
      "  temp %and: u8[64, 3, 2, 16]\n"
      "  temp %t: i32[1, 64, 3]\n"
      "  %and[i0, i1, i2, i3] = "
      "and(shr(%constant[i0, i1, 0, i3], u8(i2 * 4)), 15)\n"
      "  %t[i0, i1, i2] = sum(k0 < 16, k1 < 2) "
      "i32(%cast[i0, i2, k0, k1]) * i32(%and[i1, i2, k1, k0])\n"
      "  %y0[i0, i1] = sum(k0 < 3) f32(%t[0, i1, k0] - %sums[0, 0, k0]) * "
      "%s[0, i1, k0]\n"
      "}");
  EXPECT_THAT(text, HasSubstr("inline %and"));
  EXPECT_THAT(text, HasSubstr("pack %t %cast "));
  EXPECT_THAT(text, HasSubstr("tensorize %t k0_dot"));
}

// The bits of 6-bit weights are in two buffers, and their scales are integers
// times a factor per row. Neither is unpacked ahead of time: the stages that do
// so are inlined, so that kernels read the packed bytes.
TEST(BlockSums, BitsOfSeveralBuffersStayPacked) {
  const std::string text = ScheduleFor(
      kVnni512,
      "dispatch @d(%x: i8[1, 4, 4, 16], %constant: u8[64, 8, 16], "
      "%constant_1: u8[64, 4, 16], %constant_2: i8[64, 2, 8], "
      "%constant_3: f16[64, 2]) -> (%y: f32[1, 64]) {\n"
      "  temp %scale: f32[64, 4, 4]\n"
      "  temp %low: u8[64, 4, 4, 16]\n"
      "  temp %code: u8[64, 4, 4, 16]\n"
      "  temp %t: i32[1, 64, 4, 4]\n"
      "  %scale[n, b, p] = f32(%constant_2[n, floordiv(b, 2), mod(b, 2) * 4 + "
      "p]) * f32(%constant_3[n, floordiv(b, 2)])\n"
      "  %low[n, b, p, l] = and(shr(%constant[n, b * 2 + floordiv(p, 2), l], "
      "u8(mod(p, 2) * 4)), 15)\n"
      "  %code[n, b, p, l] = or(%low[n, b, p, l], "
      "shl(and(shr(%constant_1[n, b, l], u8(p * 2)), 3), 4))\n"
      "  %t[m, n, b, p] = sum(l < 16) i32(%x[m, b, p, l]) * "
      "i32(%code[n, b, p, l])\n"
      "  %y[m, n] = sum(b < 4, p < 4) f32(%t[m, n, b, p]) * %scale[n, b, p]\n"
      "}",
      4);
  for (const char* const stage : {"%low", "%code", "%scale"})
    EXPECT_THAT(text, HasSubstr(std::string("inline ") + stage));
  EXPECT_THAT(text, HasSubstr("pack %t %constant 0/"));
  EXPECT_THAT(text, HasSubstr("pack %t %constant_1 0/"));
  EXPECT_THAT(text, HasSubstr("tensorize %t l_dot"));
}

TEST(BlockSums, FewColumnsHaveNoLanes) {
  EXPECT_THAT(ScheduleFor(kVnni512, FourBits(1, 3)),
              Not(HasSubstr("compute_at %t")));
}

}  // namespace
}  // namespace ember::schedule
