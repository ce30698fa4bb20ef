// Tests schedules of attention: a tile has rows of one head, for all orders in
// which results are stored.
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

// Returns attention with 56 rows and 64 keys, in which `seen` computes the
// scores from the products' sums, as a mask does. Tests only look at the
// schedule: sums are not exact, and tests/cases/primitives/skip_hidden.case
// compares results.
std::string Masked(const std::string& seen) {
  return R"(
    dispatch @attention(%q: f32[3, 56, 16], %k: f32[3, 64, 16], %v: f32[3, 64, 16], %m: bool[56, 64]) -> (%y: f32[3, 56, 16]) {
      temp %s: f32[3, 56, 64]
      temp %x: f32[3, 56, 64]
      temp %most: f32[3, 56]
      temp %e: f32[3, 56, 64]
      temp %total: f32[3, 56]
      temp %p: f32[3, 56, 64]
      %s[h, i, j] = sum(c < 16) %q[h, i, c] * %k[h, j, c]
      %x[h, i, j] = )" +
         seen + R"(
      %most[h, i] = maximum(j < 64) %x[h, i, j]
      %e[h, i, j] = exp(%x[h, i, j] - %most[h, i])
      %total[h, i] = sum(j < 64) %e[h, i, j]
      %p[h, i, j] = %e[h, i, j] / %total[h, i]
      %y[h, i, c] = sum(j < 64) %p[h, i, j] * %v[h, j, c]
    })";
}

// Returns attention with 2 batches, 3 heads of 16 channels, 56 rows and 64
// keys. `stores` has the statements that compute and store the sums of weighted
// values.
std::string Attention(const std::string& shape, const std::string& stores) {
  return R"(
    dispatch @attention(%q: f32[2, 56, 3, 16], %k: f32[2, 64, 3, 16], %v: f32[2, 64, 3, 16]) -> (%y: f32[)" +
         shape + R"(]) {
      temp %s: f32[2, 3, 56, 64]
      temp %most: f32[2, 3, 56]
      temp %e: f32[2, 3, 56, 64]
      temp %total: f32[2, 3, 56]
      temp %p: f32[2, 3, 56, 64]
      temp %o: f32[2, 3, 56, 16]
      %s[b, h, i, j] = sum(c < 16) %q[b, i, h, c] * %k[b, j, h, c]
      %most[b, h, i] = maximum(j < 64) %s[b, h, i, j]
      %e[b, h, i, j] = max(%s[b, h, i, j] - %most[b, h, i], -100.0)
      %total[b, h, i] = sum(j < 64) %e[b, h, i, j]
      %p[b, h, i, j] = %e[b, h, i, j] - %total[b, h, i]
      )" +
         stores + "\n}";
}

constexpr const char* kProduct =
    " = sum(j < 64) %p[b, h, i, j] * %v[b, j, h, c]";

// Expects that a tile has rows along the positions i, and none along the heads
// h.
void ExpectTilesOfPositions(const std::string& schedule,
                            const std::string& root) {
  EXPECT_THAT(schedule,
              ContainsRegex("split %" + root + " i [0-9]+ -> i_tile i_row"));
  EXPECT_THAT(schedule, Not(HasSubstr("h_row")));
  EXPECT_THAT(schedule, HasSubstr("fuse %" + root + " b h -> tasks_1"));
  EXPECT_THAT(schedule, HasSubstr("compute_at %s %" + root + " tasks"));
  // In the product that computes the scores, the loop over the rows of a tile
  // is unrolled, and vectors run along the keys.
  EXPECT_THAT(schedule, ContainsRegex("unroll %s i_each"));
  EXPECT_THAT(schedule, HasSubstr("vectorize %s j_lane"));
}

TEST(Attention, StoredAsItIsComputed) {
  const std::string text = ScheduleFor(
      kAvx512,
      Attention("2, 3, 56, 16", std::string("%y[b, h, i, c]") + kProduct));
  ExpectTilesOfPositions(text, "y");
}

TEST(Attention, TheProductIsStoredByPositions) {
  const std::string text = ScheduleFor(
      kAvx512,
      Attention("2, 56, 3, 16", std::string("%y[b, i, h, c]") + kProduct));
  ExpectTilesOfPositions(text, "y");
}

TEST(Attention, TheProductIsStoredByPositionsOfAllBatches) {
  const std::string text = ScheduleFor(
      kAvx512,
      Attention("56, 2, 3, 16", std::string("%y[i, b, h, c]") + kProduct));
  ExpectTilesOfPositions(text, "y");
}

TEST(Attention, AStageBehindStoresByPositions) {
  const std::string text = ScheduleFor(
      kAvx512,
      Attention("2, 56, 3, 16", std::string("%o[b, h, i, c]") + kProduct +
                                    "\n      %y[b, i, h, c] = %o[b, h, i, c]"));
  ExpectTilesOfPositions(text, "y");
}

TEST(Attention, HiddenKeysAreSkipped) {
  for (const char* seen :
       {"select(j <= i, %s[h, i, j], -inf)",
        "select(and(j <= i + 8, i - 8 < j), %s[h, i, j], -inf)",
        "select(i + 3 < j, -inf, %s[h, i, j] * 0.25)"}) {
    const std::string text = ScheduleOfLarge(kAvx512, Masked(seen));
    EXPECT_THAT(text, HasSubstr("skip_hidden %y")) << seen;
    EXPECT_THAT(text, HasSubstr("compute_at %s %y tasks")) << seen;
  }
}

TEST(Attention, HiddenKeysAreSkippedBeforeAStageBehind) {
  std::string dispatch = Masked("select(j <= i, %s[h, i, j], -inf)");
  const std::string product = "%y[h, i, c] = sum";
  dispatch.replace(dispatch.find(product), product.size(), "%o[h, i, c] = sum");
  const std::string last = "%v[h, j, c]\n";
  dispatch.insert(dispatch.find(last) + last.size(),
                  "      %y[h, i, c] = %o[h, i, c] * 2.0\n");
  const std::string temporary = "      temp %p: f32[3, 56, 64]\n";
  dispatch.insert(dispatch.find(temporary), "      temp %o: f32[3, 56, 16]\n");
  EXPECT_THAT(ScheduleOfLarge(kAvx512, dispatch), HasSubstr("skip_hidden %o"));
}

TEST(Attention, NothingChangesWhereNoKeyIsHidden) {
  for (const char* seen : {"%s[h, i, j] * 0.25", "%s[h, i, j]",
                           "select(%m[i, j], %s[h, i, j], -inf)",
                           "select(j <= i + 64, %s[h, i, j], -inf)"}) {
    EXPECT_THAT(ScheduleOfLarge(kAvx512, Masked(seen)),
                Not(HasSubstr("skip_hidden")))
        << seen;
  }
}

}  // namespace
}  // namespace ember::schedule
