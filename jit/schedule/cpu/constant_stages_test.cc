// Weights that are computed from constants: once, in the layout that a product
// reads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "jit/schedule/testing/default_schedule_testing.h"

namespace ember::schedule {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kAvx512 =
    "x86_64-linux+avx2+fma+avx512f+avx512bw+avx512vl";

// Bytes %q are the constant.
std::string Dequantized(int columns, int terms, const std::string& rest = "") {
  const std::string n = std::to_string(columns), k = std::to_string(terms);
  return "dispatch @product(%x: f32[3, " + k + "], %q: u8[" + n + ", " + k +
         "]" + rest + ") -> (%y: f32[3, " + n + "]) {\n  temp %w: f32[" + n +
         ", " + k +
         "]\n  %w[j, c] = (f32(%q[j, c]) - 8.0) * 0.5\n"
         "  %y[i, j] = sum(k < " +
         k + ") %x[i, k] * %w[j, k]\n}";
}

TEST(ConstantStages, AreComputedInTheCopy) {
  // 40 columns are no whole number of tiles: the copy is filled up.
  for (const int columns : {40, 64}) {
    const std::string text = ScheduleFor(kAvx512, Dequantized(columns, 24));
    EXPECT_THAT(text, HasSubstr("pack %y %w"));
    EXPECT_THAT(text, HasSubstr("inline %w"));
    EXPECT_THAT(text, Not(HasSubstr("parallel %w")));
  }
}

// Where a kernel reads them as they are there is no copy to compute them in.
TEST(ConstantStages, AreKeptWhereNothingIsPacked) {
  const std::string text = ScheduleFor(kAvx512, R"(
    dispatch @table(%x: f32[40], %q: u8[40]) -> (%y: f32[30, 40]) {
      temp %w: f32[40]
      %w[j] = (f32(%q[j]) - 8.0) * 0.5
      %y[i, j] = %x[j] * %w[j] + f32(i)
    })");
  EXPECT_THAT(text, Not(HasSubstr("compute_at %w")));
  EXPECT_THAT(text, Not(HasSubstr("inline %w")));
  EXPECT_THAT(text, ContainsRegex("vectorize %w j_lane"));
}

// What is much larger than it was is made anew where it is read.
TEST(ConstantStages, BroadcastsAreNotKept) {
  const std::string text = ScheduleFor(kAvx512, R"(
    dispatch @wide(%x: f32[200, 40], %q: u8[40]) -> (%y: f32[200, 40]) {
      temp %w: f32[200, 40]
      %w[i, j] = (f32(%q[j]) - 8.0) * 0.5
      %y[i, j] = %x[i, j] * %w[i, j]
    })");
  EXPECT_THAT(text, HasSubstr("compute_at %w"));
}

}  // namespace
}  // namespace ember::schedule
