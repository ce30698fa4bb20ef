// Lanes of default schedules where vectors do not fit what they run along.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "jit/schedule/default_schedule_testing.h"

namespace ember::schedule {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kAvx2 = "x86_64-linux+avx2+fma";
constexpr const char* kAvx512 =
    "x86_64-linux+avx2+fma+avx512f+avx512bw+avx512vl";

std::string CopyOfBytes(int columns) {
  const std::string n = std::to_string(columns);
  return "dispatch @copy(%x: u8[6, " + n + "], %w: u8[" + n +
         "]) -> (%y: u8[6, " + n +
         "]) {\n  %y[i, j] = max(pad(%x[i - 1, j], 3), %w[j])\n}";
}

TEST(Lanes, PartsOfVectorsOfBytes) {
  // Without mask registers a part is accessed byte by byte.
  EXPECT_THAT(ScheduleFor(kAvx2, CopyOfBytes(144)), HasSubstr("split %y j 16"));
  EXPECT_THAT(ScheduleFor(kAvx2, CopyOfBytes(24)), HasSubstr("split %y j 8"));
  const std::string part = ScheduleFor(kAvx2, CopyOfBytes(58));
  EXPECT_THAT(part, HasSubstr("split %y j 8"));
  EXPECT_THAT(part, HasSubstr("peel %y j_block"));
  EXPECT_THAT(ScheduleFor(kAvx512, CopyOfBytes(144)),
              HasSubstr("split %y j 64"));
}

// Planes that become pixels: lanes run along a plane.
TEST(Lanes, ThreeChannelsOfPixels) {
  const std::string text = ScheduleFor(kAvx2, R"(
    dispatch @pixels(%x: f32[3, 5, 16], %s: f32[3]) -> (%y: u8[5, 16, 3]) {
      %y[h, w, c] = u8(round(%x[c, h, w] * %s[c]))
    })");
  EXPECT_THAT(text, HasSubstr("_lane"));
  EXPECT_THAT(text, Not(HasSubstr("fuse %y w c")));
  EXPECT_THAT(text, Not(HasSubstr("split %y c")));
}

// Channels that are filled up to four: a pixel at a time.
TEST(Lanes, PixelsWithPadding) {
  const std::string text = ScheduleFor(kAvx2, R"(
    dispatch @filled(%x: u8[5, 16, 3], %s: i16[4]) -> (%y: i16[5, 18, 4]) {
      %y[h, w, c] = i16(pad(%x[h, w - 1, c], 7)) + %s[c]
    })");
  EXPECT_THAT(text, HasSubstr("split %y c 4"));
}

}  // namespace
}  // namespace ember::schedule
