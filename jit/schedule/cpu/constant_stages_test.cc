// Tests that weights which are computed from constants are computed once, in
// the layout that a product reads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "jit/schedule/testing/default_schedule.h"

namespace ember::schedule {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kAvx512 =
    "x86_64-linux+avx2+fma+avx512f+avx512bw+avx512vl";

// Returns a product with weights that are computed from the constant bytes %q.
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
  // 40 columns are not a whole number of tiles, so the copy is padded.
  for (const int columns : {40, 64}) {
    const std::string text = ScheduleFor(kAvx512, Dequantized(columns, 24));
    EXPECT_THAT(text, HasSubstr("pack %y %w"));
    EXPECT_THAT(text, HasSubstr("inline %w"));
    EXPECT_THAT(text, Not(HasSubstr("parallel %w")));
  }
}

// The weights %w are computed from the constant bytes %q. The kernel reads the
// weights in the order in which they are stored, so there is no packed copy of
// them, and they are computed by a stage of their own.
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

// A result that is much larger than its constants is computed where it is read.
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
