// Tests products whose results are stored with their axes in another order. The
// tile's rows and vectors are axes of the product, whatever their names are in
// the results.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "jit/loops/testing/text_template.h"
#include "jit/schedule/testing/default_schedule.h"

namespace ember::schedule {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;

constexpr const char* kAvx512 =
    "x86_64-linux+avx2+fma+avx512f+avx512bw+avx512vl";

TEST(TransposedProducts, ColumnsAreStoredAsRows) {
  const std::string text = ScheduleFor(kAvx512, R"(
    dispatch @product(%x: f32[24, 40], %w: f32[40, 64]) -> (%y: f32[64, 24]) {
      temp %p: f32[24, 64]
      %p[i, j] = sum(k < 40) %x[i, k] * %w[k, j]
      %y[n, m] = max(%p[m, n], 0.0)
    })");
  // Axis n of %y is axis j of %p, along which the tile has vectors. Lanes of %p
  // and %y run along it.
  EXPECT_THAT(text, HasSubstr("vectorize %p j_lane"));
  EXPECT_THAT(text, HasSubstr("vectorize %y n_lane"));
  EXPECT_THAT(text, ContainsRegex("split %y m [0-9]+ -> m_tile m_row"));
  EXPECT_THAT(text, ContainsRegex("compute_at %p %y tasks"));
}

// Channels are last in the product and the stage after it, and first in the
// result.
TEST(TransposedProducts, ThroughAStageBetween) {
  const std::string text = ScheduleFor(kAvx512, R"(
    dispatch @conv(%x: f32[1, 8, 20, 16], %w: f32[16, 32]) -> (%y: f32[1, 32, 8, 20]) {
      temp %p: f32[1, 8, 20, 32]
      temp %q: f32[1, 8, 20, 32]
      %p[n, h, w, o] = sum(k < 16) %x[n, h, w, k] * %w[k, o]
      %q[n, h, w, o] = max(%p[n, h, w, o], 0.0)
      %y[a, b, c, d] = %q[a, c, d, b] * 2.0
    })");
  EXPECT_THAT(text, HasSubstr("vectorize %p o_lane"));
  EXPECT_THAT(text, HasSubstr("vectorize %q o_lane"));
  EXPECT_THAT(text, HasSubstr("vectorize %y b_lane"));
}

// The results have a single channel, whose axis is indexed by 0 in %y. The
// tile's vectors then run along columns.
TEST(TransposedProducts, OneOutput) {
  const std::string text = ScheduleFor(kAvx512, R"(
    dispatch @conv(%x: f32[1, 12, 40, 8], %w: f32[3, 3, 8, 1]) -> (%y: f32[1, 1, 12, 40]) {
      temp %p: f32[1, 12, 40, 1]
      %p[i0, i1, i2, i3] = sum(k0 < 3, k1 < 3, k2 < 8) pad(%x[i0, i1 + k0 - 1, i2 + k1 - 1, k2], 0.0) * %w[k0, k1, k2, i3]
      %y[i0, i1, i2, i3] = max(%p[i0, i2, i3, 0], 0.0)
    })");
  EXPECT_THAT(text, HasSubstr("vectorize %p i2_lane"));
  EXPECT_THAT(text, HasSubstr("vectorize %y i3_lane"));
}

// %y lacks the axis b of the product, which has one point.
TEST(TransposedProducts, AxesWithOnePointAreLeftOut) {
  const std::string text = ScheduleFor(kAvx512, R"(
    dispatch @rows(%x: f32[1, 24, 40], %w: f32[40, 64]) -> (%y: f32[24, 64]) {
      temp %p: f32[1, 24, 64]
      %p[b, i, j] = sum(k < 40) %x[b, i, k] * %w[k, j]
      %y[m, n] = max(%p[0, m, n], 0.0)
    })");
  EXPECT_THAT(text, HasSubstr("vectorize %y n_lane"));
  EXPECT_THAT(text, ContainsRegex("compute_at %p %y tasks"));
}

// Products of any size, also too small for a tile, are read by a result that
// has more axes than they have. The chosen schedule must be legal and compute
// the results.
TEST(TransposedProducts, SmallOnesInResultsWithMoreAxes) {
  for (const char* type : {"f32", "i32", "f64", "bf16"}) {
    for (int rows : {1, 2, 3, 9, 40}) {
      for (int columns : {1, 2, 7, 33}) {
        for (int depth : {1, 3, 30}) {
          for (const auto& [shape, indices] :
               {std::pair{"1, R, C, 1", "%p[0, b, c]"},
                std::pair{"1, 1, R, C", "%p[0, c, d]"},
                std::pair{"1, C, 1, R", "%p[0, d, b]"},
                std::pair{"C, 1, 1, R", "%p[0, d, a]"},
                std::pair{"1, C, R, 1", "%p[a, c, b]"}}) {
            std::string text = R"(
              dispatch @product(%x: T[1, R, K], %w: T[K, C]) -> (%y: T[S]) {
                temp %p: T[1, R, C]
                %p[n, i, j] = sum(k < K) %x[n, i, k] * %w[k, j]
                %y[a, b, c, d] = I + I
              })";
            text = loops::Replaced(text, "T[", std::string(type) + "[");
            text = loops::Replaced(text, "[S]", "[" + std::string(shape) + "]");
            text = loops::Replaced(text, "I + I",
                                   std::string(indices) + " + " + indices);
            text = loops::Replaced(text, "R", std::to_string(rows));
            text = loops::Replaced(text, "C", std::to_string(columns));
            text = loops::Replaced(text, "K", std::to_string(depth));
            SCOPED_TRACE(text);
            EXPECT_THAT(ScheduleFor(kAvx512, text),
                        HasSubstr("schedule @product"));
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace ember::schedule
