// Tests the lanes of default schedules where vectors do not divide an extent.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "jit/schedule/testing/default_schedule.h"

namespace ember::schedule {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kAvx2 = "x86_64-linux+avx2+fma";
constexpr const char* kNeon = "aarch64-linux+neon";
constexpr const char* kAvx512 =
    "x86_64-linux+avx2+fma+avx512f+avx512bw+avx512vl";

std::string CopyOfBytes(int columns) {
  const std::string n = std::to_string(columns);
  return "dispatch @copy(%x: u8[6, " + n + "], %w: u8[" + n +
         "]) -> (%y: u8[6, " + n +
         "]) {\n  %y[i, j] = max(pad(%x[i - 1, j], 3), %w[j])\n}";
}

TEST(Lanes, PartsOfVectorsOfBytes) {
  // Without mask registers a partial vector of bytes is accessed byte by byte.
  // So the number of lanes divides the row if possible, and otherwise the
  // partial vector is peeled.
  EXPECT_THAT(ScheduleFor(kAvx2, CopyOfBytes(144)), HasSubstr("split %y j 16"));
  EXPECT_THAT(ScheduleFor(kAvx2, CopyOfBytes(24)), HasSubstr("split %y j 8"));
  const std::string part = ScheduleFor(kAvx2, CopyOfBytes(58));
  EXPECT_THAT(part, HasSubstr("split %y j 8"));
  EXPECT_THAT(part, HasSubstr("peel %y j_block"));
  EXPECT_THAT(ScheduleFor(kAvx512, CopyOfBytes(144)),
              HasSubstr("split %y j 64"));
}

// Vectors of bytes are not worth it on AVX2 if each lane of a padded,
// transposed image has its own condition and stores its result by itself.
TEST(Lanes, PaddedBytesThatLieApartHaveNone) {
  const std::string image =
      "dispatch @t(%x: i8[3, 224, 224]) -> (%y: i8[226, 226, 3]) {\n"
      "  %y[i, j, c] = pad(%x[c, i - 1, j - 1], -14)\n}";
  EXPECT_THAT(ScheduleFor(kAvx2, image), Not(HasSubstr("vectorize")));
  EXPECT_THAT(ScheduleFor(kAvx512, image), HasSubstr("vectorize"));
}

std::string CopyOfFloats(int columns) {
  const std::string n = std::to_string(columns);
  return "dispatch @copy(%x: f32[6, " + n + "]) -> (%y: f32[8, " + n +
         "]) {\n  %y[i, j] = pad(%x[i - 1, j], 3.0)\n}";
}

// Masked stores of AVX2 are slow, so lanes divide the row or the partial vector
// is peeled. With the mask registers of AVX-512 neither is necessary.
TEST(Lanes, PartsOfVectorsOfFloats) {
  EXPECT_THAT(ScheduleFor(kAvx2, CopyOfFloats(12)), HasSubstr("split %y j 4"));
  EXPECT_THAT(ScheduleFor(kAvx2, CopyOfFloats(16)), Not(HasSubstr("peel")));
  const std::string part = ScheduleFor(kAvx2, CopyOfFloats(261));
  EXPECT_THAT(part, HasSubstr("split %y j 8"));
  EXPECT_THAT(part, HasSubstr("peel %y j_block"));
  EXPECT_THAT(ScheduleFor(kAvx512, CopyOfFloats(261)), Not(HasSubstr("peel")));
}

std::string Pooling(int channels, const std::string& last) {
  const std::string c = std::to_string(channels);
  return "dispatch @pool(%x: f32[32, 32, " + c + "], %b: f32[" + c +
         "]) -> (%y: f32[16, 16, " + c + "]) {\n  temp %p: f32[16, 16, " + c +
         "]\n  %p[i, j, c] = maximum(u < 3, v < 3) pad(%x[i * 2 + u - 1, " +
         "j * 2 + v - 1, c], -inf)\n  %y[i, j, c] = " + last + "\n}";
}

// Several vectors of a pooling window are computed side by side: they share the
// tests for padding, and their maxima do not wait for each other.
TEST(Lanes, WindowsOfSeveralVectors) {
  for (const std::string last : {"%p[i, j, c]", "%p[i, j, c] + %b[c]"}) {
    const std::string even = ScheduleFor(kAvx2, Pooling(64, last));
    EXPECT_THAT(even, HasSubstr("split %p c 32")) << last;
    EXPECT_THAT(even, HasSubstr("unroll %p c_vector")) << last;
    EXPECT_THAT(ScheduleFor(kAvx2, Pooling(24, last)),
                HasSubstr("split %p c 24"))
        << last;
    // 136 channels are 17 vectors: four side by side in a loop, and one after
    // it.
    EXPECT_THAT(ScheduleFor(kAvx2, Pooling(136, last)),
                HasSubstr("split %p c 32"))
        << last;
    EXPECT_THAT(ScheduleFor(kAvx2, Pooling(8, last)),
                Not(HasSubstr("c_vector")))
        << last;
  }
}

// Three rows are too few tasks. So tasks are chunks of rows: if they were
// single vectors, each would need a division to find its row.
TEST(Lanes, TasksAreChunksOfLongRows) {
  const std::string text = ScheduleFor(kAvx2, R"(
    dispatch @shift(%x: f32[3, 51529], %c: f32[3]) -> (%y: f32[3, 51529]) {
      %y[i, j] = %x[i, j] + %c[i]
    })");
  EXPECT_THAT(text, HasSubstr("split %y j 2048 -> j_chunk j_rest"));
  EXPECT_THAT(text, HasSubstr("fuse %y i j_chunk -> tasks"));
  EXPECT_THAT(ScheduleFor(kAvx2, R"(
    dispatch @shift(%x: f32[300, 515], %c: f32[300]) -> (%y: f32[300, 515]) {
      %y[i, j] = %x[i, j] + %c[i]
    })"),
              Not(HasSubstr("chunk")));
  // The rule must not fail for a result without axes.
  EXPECT_THAT(ScheduleFor(kAvx2, R"(
    dispatch @number(%x: f32[]) -> (%y: f32[]) {
      %y[] = neg(%x[])
    })"),
              Not(HasSubstr("chunk")));
}

// Rows of 10 elements are shorter than vectors, so several rows are computed
// together. In sums the lanes are rows; in elementwise stages they run over
// rows and columns.
TEST(Lanes, SeveralNarrowRowsAtOnce) {
  const std::string text = ScheduleFor(kAvx512, R"(
    dispatch @normalise(%x: f32[300, 10], %c: f32[10]) -> (%y: f32[300, 10]) {
      temp %most: f32[300]
      temp %d: f32[300, 10]
      temp %total: f32[300]
      %most[i] = maximum(k < 10) %x[i, k]
      %d[i, j] = %x[i, j] - %most[i]
      %total[i] = sum(k < 10) max(%d[i, k], -8.0)
      %y[i, j] = %d[i, j] - %total[i]
    })");
  EXPECT_THAT(text, HasSubstr("split %y i 64 -> i_tile i_row"));
  EXPECT_THAT(text, HasSubstr("fuse %y i_row j -> i_row_j"));
  EXPECT_THAT(text, HasSubstr("fuse %d i j -> i_j"));
  EXPECT_THAT(text, HasSubstr("vectorize %most i_lane"));
  EXPECT_THAT(text, HasSubstr("vectorize %total i_lane"));
}

// Rows have two elements, so the lanes of the sums run over the rows i.
TEST(Lanes, NarrowRowsThatEndInASum) {
  const std::string text = ScheduleFor(kAvx512, R"(
    dispatch @sums(%x: f32[3, 80, 2], %c: f32[2]) -> (%e: f32[3, 80, 2], %y: f32[3, 80]) {
      %e[a, i, j] = max(%x[a, i, j], %c[j])
      %y[a, i] = sum(k < 2) %e[a, i, k]
    })");
  EXPECT_THAT(text, HasSubstr("compute_at %e %y tasks"));
  EXPECT_THAT(text, HasSubstr("vectorize %y i_row_lane"));
}

// If 16 lanes run over 12 channels, a lane has the same channel again after
// three vectors. The three are unrolled, so that channels are constants.
TEST(Lanes, DigitsRepeatAfterAPeriod) {
  const std::string text = ScheduleFor(kAvx512, R"(
    dispatch @scale(%x: f32[40, 12], %c: f32[12]) -> (%y: f32[40, 12]) {
      %y[i, j] = %x[i, j] * %c[j]
    })");
  EXPECT_THAT(text, HasSubstr("split %y i_j 48 -> i_j_tile i_j_rest"));
  EXPECT_THAT(text, HasSubstr("unroll %y i_j_part"));
  EXPECT_THAT(text, HasSubstr("vectorize %y i_j_lane"));
}

// Each point has only two results, which are contiguous. Lanes run along the
// points i instead, and store their results one by one.
TEST(Lanes, AProductWithFewResultsAlongMemory) {
  const std::string text = ScheduleFor(kAvx512, R"(
    dispatch @planes(%x: f32[18, 40, 64], %w: f32[18, 2]) -> (%y: f32[40, 64, 2]) {
      %y[h, i, o] = sum(c < 18) %x[c, h, i] * %w[c, o]
    })");
  EXPECT_THAT(text, HasSubstr("vectorize %y i_lane"));
  EXPECT_THAT(text, Not(HasSubstr("vectorize %y o_lane")));
}

// %p has no axis for b of %y. Its axes are matched with the root's by the dims
// of %p that they index, so lanes run along d as in the root.
TEST(Lanes, MembersWithFewerAxesHaveLanes) {
  const std::string text = ScheduleFor(kAvx512, R"(
    dispatch @scaled(%x: f32[40, 64], %c: f32[64]) -> (%y: f32[40, 1, 64]) {
      temp %p: f32[40, 64]
      %p[i, j] = %x[i, j] * %c[j]
      %y[a, b, d] = max(%p[a, d], 0.0)
    })");
  EXPECT_THAT(text, HasSubstr("vectorize %p j_lane"));
}

// An image of three planes becomes pixels of three interleaved channels. Lanes
// run along a plane, because three channels are too few.
TEST(Lanes, ThreeChannelsOfPixels) {
  const std::string text = ScheduleFor(kAvx2, R"(
    dispatch @pixels(%x: f32[3, 5, 16], %s: f32[3]) -> (%y: u8[5, 16, 3]) {
      %y[h, w, c] = u8(round(%x[c, h, w] * %s[c]))
    })");
  EXPECT_THAT(text, HasSubstr("_lane"));
  EXPECT_THAT(text, Not(HasSubstr("fuse %y w c")));
  EXPECT_THAT(text, Not(HasSubstr("split %y c")));
}

// Pixels of three channels are stored with four, so a vector of four lanes
// holds one pixel.
TEST(Lanes, PixelsWithPadding) {
  const std::string text = ScheduleFor(kAvx2, R"(
    dispatch @filled(%x: u8[5, 16, 3], %s: i16[4]) -> (%y: i16[5, 18, 4]) {
      %y[h, w, c] = i16(pad(%x[h, w - 1, c], 7)) + %s[c]
    })");
  EXPECT_THAT(text, HasSubstr("split %y c 4"));
}

// No tile is copied if lanes and cache lines run along the same dim of the
// input: the tile's length would not be a constant after loops are fused to
// tasks.
TEST(Lanes, NoTilesAcrossDiagonals) {
  const std::string text = ScheduleFor(kAvx2, R"(
    dispatch @sums(%x: f32[40, 1, 80], %z: f32[40]) -> (%y: f32[40, 6, 40]) {
      %y[i, j, k] = pad(%x[k + 1, 0, i + k], 0.0) + %z[k]
    })");
  EXPECT_THAT(text, HasSubstr("vectorize %y k_lane"));
  EXPECT_THAT(text, Not(HasSubstr("y.tile")));
}

// If the stage has several loads of the buffer, a tile contains what all of
// them read. No tile is copied if one of them reads elements that are not near
// the others.
TEST(Lanes, TilesOfAllLoads) {
  const auto sum = [](const std::string& other) {
    return ScheduleFor(kAvx2,
                       "dispatch @sum(%x: f32[40, 81], %z: i32[80]) -> (%y: "
                       "f32[80, 40]) {\n  %y[i, j] = %x[j, i] + " +
                           other + "\n}");
  };
  EXPECT_THAT(sum("1.0"), HasSubstr("y.tile"));
  EXPECT_THAT(sum("%x[j, i + 1]"), HasSubstr("y.tile"));
  EXPECT_THAT(sum("%x[0, min(max(i64(%z[i]), 0), 79)]"),
              Not(HasSubstr("y.tile")));
  EXPECT_THAT(sum("%x[39 - j, mod(i * 7, 80)]"), Not(HasSubstr("y.tile")));
}

// A padded load of an open extent is not copied to a tile, because a tile
// cannot contain elements outside of the buffer.
TEST(Lanes, NoTilesOfOpenExtentsWithPadding) {
  EXPECT_THAT(ScheduleOfLarge(kAvx2, R"(
    dispatch @transposed<N>(%x: f32[40, N]) -> (%y: f32[N + 2, 40]) {
      %y[i, j] = pad(%x[j, i], 0.0)
    })"),
              Not(HasSubstr("y.tile")));
  EXPECT_THAT(ScheduleOfLarge(kAvx2, R"(
    dispatch @transposed<N>(%x: f32[40, N]) -> (%y: f32[N, 40]) {
      %y[i, j] = %x[j, i] + 1.0
    })"),
              HasSubstr("y.tile"));
}

// %t reads %y, which is a result and must not be computed twice. It is computed
// inside a loop of %z, for a few points at a time, so it has at most as many
// lanes as these points.
TEST(Lanes, OfStagesThatReadResults) {
  for (int n = 3; n < 40; ++n) {
    const std::string size = std::to_string(n);
    const std::string text = ScheduleFor(
        kAvx2, "dispatch @d(%x: i64[" + size + "], %w: u8[]) -> (%y: u32[" +
                   size + "], %z: u8[" + size + "]) {\n  temp %t: u32[" + size +
                   "]\n  %y[i] = u32(%x[i]) + u32(%w[])\n"
                   "  %t[i] = pow(4294967295, %y[i])\n"
                   "  %z[i] = and(u8(%t[i]), %w[])\n}");
    EXPECT_THAT(text, HasSubstr("vectorize %z")) << n;
  }
}

// Convolutions whose groups have few channels get as many lanes as channels,
// however long the CPU's vectors are.
TEST(Lanes, ShortAxes) {
  const auto convolution = [](int outputs) {
    const std::string o = std::to_string(outputs);
    return "dispatch @conv(%x: f32[6, 9, 5], %w: f32[3, 6, 5, " + o +
           "]) -> (%y: f32[6, 7, " + o +
           "]) {\n  %y[g, h, o] = sum(p < 3, c < 5) %x[g, h + p, c] * "
           "%w[p, g, c, o]\n}";
  };
  for (const char* target : {kAvx2, kAvx512, kNeon}) {
    const std::string four = ScheduleFor(target, convolution(4));
    EXPECT_THAT(four, HasSubstr("split %y o_rest 4")) << target;
    EXPECT_THAT(four, HasSubstr("vectorize %y o_lane")) << target;
    EXPECT_THAT(ScheduleFor(target, convolution(2)),
                HasSubstr("vectorize %y o_lane"))
        << target;
  }
  EXPECT_THAT(ScheduleFor(kAvx512, convolution(6)),
              HasSubstr("split %y o_rest 8"));
  EXPECT_THAT(ScheduleFor(kAvx512, convolution(12)),
              HasSubstr("split %y o_rest 16"));
  // On short axes there are also few lanes in stages that are no products, and
  // in sums along contiguous elements.
  EXPECT_THAT(ScheduleFor(kAvx512, R"(
    dispatch @scaled(%x: f32[3, 6], %w: f32[6]) -> (%y: f32[3, 6]) {
      %y[i, j] = %x[i, j] * 2.0 + %w[j]
    })"),
              HasSubstr("vectorize %y"));
  EXPECT_THAT(ScheduleFor(kAvx512, R"(
    dispatch @sums(%x: f32[3, 12], %w: f32[3]) -> (%y: f32[3]) {
      %y[i] = sum(k < 12) %x[i, k] + %w[i]
    })"),
              HasSubstr("split %y k 8"));
}

}  // namespace
}  // namespace ember::schedule
