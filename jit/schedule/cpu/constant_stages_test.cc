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

// Returns a product with the weights %w, which a stage computes from the
// constant bytes %q.
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
  // The copy is padded for 40 columns, which tiles do not divide, and not for
  // 64.
  for (const int columns : {40, 64}) {
    const std::string text = ScheduleFor(kAvx512, Dequantized(columns, 24));
    EXPECT_THAT(text, HasSubstr("pack %y %w"));
    EXPECT_THAT(text, HasSubstr("inline %w"));
    EXPECT_THAT(text, Not(HasSubstr("parallel %w")));
  }
}

// The weights %w are computed from the constant bytes %q, and are read in the
// order in which they are stored. So no packed copy is made, and %w stays a
// stage of its own.
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

// %w has 200 times as many elements as the constant %q, so it is not computed
// ahead of time but where it is read.
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
