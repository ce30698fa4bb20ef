// Tests products whose rows are copied first (pack_rows_rule.h).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "jit/schedule/testing/default_schedule.h"

namespace ember::schedule {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kAvx2 = "x86_64-linux+avx2+fma";

std::string Product(int rows, int inner, int columns) {
  const std::string m = std::to_string(rows), k = std::to_string(inner),
                    n = std::to_string(columns);
  return "dispatch @product(%x: f32[" + m + ", " + k + "], %w: f32[" + k +
         ", " + n + "]) -> (%y: f32[" + m + ", " + n +
         "]) {\n  %y[i, j] = sum(k < " + k + ") %x[i, k] * %w[k, j]\n}";
}

std::string Transposed(int rows, int inner, int columns) {
  const std::string m = std::to_string(rows), k = std::to_string(inner),
                    n = std::to_string(columns);
  return "dispatch @product(%x: f32[1, " + k + ", " + m + "], %w: f32[" + k +
         ", " + n + "]) -> (%y: f32[1, " + m + ", " + n +
         "]) {\n  %y[b, i, j] = sum(k < " + k + ") %x[b, k, i] * %w[k, j]\n}";
}

TEST(PackRows, RowsThatShareASet) {
  // Rows are copied if they are 1024 floats apart, which is 4096 bytes, but not
  // if they are 1000 floats apart, or if there are too few results.
  EXPECT_THAT(ScheduleOfLarge(kAvx2, Product(48, 1024, 512)),
              HasSubstr("pack %y %x 0/6 1 0%6 -> x.rows"));
  EXPECT_THAT(ScheduleOfLarge(kAvx2, Product(48, 1000, 512)),
              Not(HasSubstr("%x")));
  EXPECT_THAT(ScheduleOfLarge(kAvx2, Product(48, 1024, 64)),
              Not(HasSubstr("%x")));
}

TEST(PackRows, RowsThatAreColumnsOfMemory) {
  // %x is transposed, so each step of the sum reads another cache line. Rows
  // are copied if there are more steps than the cache has lines. With 17 rows
  // the last tile of rows is not full.
  EXPECT_THAT(ScheduleFor(kAvx2, Transposed(17, 1100, 128)),
              HasSubstr("-> x.rows"));
  EXPECT_THAT(ScheduleOfLarge(kAvx2, Transposed(17, 500, 128)),
              Not(HasSubstr("%x")));
}

}  // namespace
}  // namespace ember::schedule
