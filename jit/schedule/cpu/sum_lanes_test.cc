// Tests products whose factors are both contiguous along the sum and not
// constant: which of them get lanes along the sum, and which a copy of a
// factor.
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
constexpr const char* kAvx2 = "x86_64-linux+avx2+fma";
constexpr const char* kNeon = "aarch64-linux+neon";

// Returns a product whose factor %w is no constant: it is input 0, and tests
// make input 1 (%c) a constant.
std::string Product(int rows, int columns, int terms) {
  const std::string m = std::to_string(rows), n = std::to_string(columns),
                    k = std::to_string(terms);
  return "dispatch @product(%w: f32[" + n + ", " + k + "], %c: f32[" + n +
         "], %x: f32[" + m + ", " + k + "]) -> (%y: f32[" + m + ", " + n +
         "]) {\n  %y[i, j] = sum(k < " + k + ") %x[i, k] * %w[j, k]\n}";
}

TEST(SumLanes, OneRow) {
  for (const char* target : {kAvx512, kAvx2, kNeon}) {
    const std::string text = ScheduleFor(target, Product(1, 40, 256));
    EXPECT_THAT(text, HasSubstr("vectorize %y k_lane"));
    EXPECT_THAT(text, ContainsRegex("unroll %y j_column"));
    EXPECT_THAT(text, Not(HasSubstr("pack")));
  }
}

TEST(SumLanes, SomeRowsShareWhatTheyRead) {
  const std::string text = ScheduleFor(kAvx512, Product(12, 40, 256));
  EXPECT_THAT(text, ContainsRegex("split %y i [34] -> i_tile i_row"));
  EXPECT_THAT(text, HasSubstr("unroll %y i_row"));
  EXPECT_THAT(text, HasSubstr("unroll %y j_column"));
  EXPECT_THAT(text, HasSubstr("vectorize %y k_lane"));
}

// No extent is a multiple of the tile's size, so the last tiles are cut off.
TEST(SumLanes, EndsAreCutOff) {
  for (const int rows : {1, 3, 5}) {
    for (const int columns : {2, 9, 17}) {
      for (const int terms : {33, 100, 1030}) {
        EXPECT_THAT(ScheduleFor(kAvx512, Product(rows, columns, terms)),
                    HasSubstr("vectorize %y k_lane"));
      }
    }
  }
}

TEST(SumLanes, StagesBehindAreComputedOnTheTile) {
  const std::string text = ScheduleFor(kAvx512, R"(
    dispatch @gemm(%w: f32[40, 256], %c: f32[40], %x: f32[1, 256]) -> (%y: f32[1, 40]) {
      temp %p: f32[1, 40]
      %p[i, j] = sum(k < 256) %x[i, k] * %w[j, k]
      %y[i, j] = max(%p[i, j] + %c[j], 0.0)
    })");
  EXPECT_THAT(text, HasSubstr("compute_at %p %y tasks"));
  EXPECT_THAT(text, HasSubstr("vectorize %p k_lane"));
  EXPECT_THAT(text, Not(HasSubstr("pack")));
}

// Vectors along j would be mostly empty, because there are only two columns. So
// lanes run along the sum, for which the constant %w is packed once.
TEST(SumLanes, FewResultsOfConstants) {
  const std::string text = ScheduleFor(kAvx512, R"(
    dispatch @pair(%x: f32[30, 256], %w: f32[256, 2]) -> (%y: f32[30, 2]) {
      %y[i, j] = sum(k < 256) %x[i, k] * %w[k, j]
    })");
  EXPECT_THAT(text, HasSubstr("pack %y %w 1 0 -> w.sums"));
  EXPECT_THAT(text, HasSubstr("vectorize %y k_lane"));
}

// Neighbouring results read windows of %x that are two elements apart. Vectors
// along the results would not be contiguous, so lanes run along the sum.
TEST(SumLanes, StridedWindows) {
  const std::string text = ScheduleFor(kAvx512, R"(
    dispatch @filter(%x: f32[336, 1], %w: f32[256, 1]) -> (%y: f32[40, 1]) {
      %y[i, j] = sum(k < 256) %x[i * 2 + k, 0] * %w[k, j]
    })");
  EXPECT_THAT(text, HasSubstr("vectorize %y k_lane"));
  EXPECT_THAT(text, HasSubstr("unroll %y i_column"));
}

// If there are many rows, vectors along j and a copy of %w save more time than
// the copy takes.
TEST(SumLanes, ManyRowsOfShortSumsReadACopy) {
  const std::string text = ScheduleOfLarge(kAvx512, Product(1024, 1024, 64));
  EXPECT_THAT(text, HasSubstr("pack %y %w"));
  EXPECT_THAT(text, HasSubstr("vectorize %y j_lane"));
}

// A constant factor is packed once for all calls, so vectors run along j as
// usual.
TEST(SumLanes, ConstantsArePacked) {
  const std::string text = ScheduleFor(kAvx512, R"(
    dispatch @product(%x: f32[1, 256], %w: f32[40, 256]) -> (%y: f32[1, 40]) {
      %y[i, j] = sum(k < 256) %x[i, k] * %w[j, k]
    })");
  EXPECT_THAT(text, HasSubstr("pack %y %w"));
  EXPECT_THAT(text, HasSubstr("vectorize %y j_lane"));
}

}  // namespace
}  // namespace ember::schedule
